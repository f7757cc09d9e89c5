import { expect, it } from 'vitest';
import { parseProperties } from './properties.ts';

it('reads keys and values, whatever is between them', () => {
  const text =
    'recordcount=1000\noperationcount = 2000\nfieldcount: 10\r\nfieldlength\t100\n  workload=a.b=c \nalone\nempty=\n';
  expect([...parseProperties(text)]).toEqual([
    ['recordcount', '1000'],
    ['operationcount', '2000'],
    ['fieldcount', '10'],
    ['fieldlength', '100'],
    ['workload', 'a.b=c '],
    ['alone', ''],
    ['empty', ''],
  ]);
});

it('leaves out comments, joins lines, and takes the last of a key', () => {
  const text = '# a=1\n   ! b=2\n\nc=1\nc=2\nd=one, \\\n    two\\\n# three\ne=x\\\\\nf=1';
  expect([...parseProperties(text)]).toEqual([
    ['c', '2'],
    ['d', 'one, two# three'],
    ['e', 'x\\'],
    ['f', '1'],
  ]);
});

it('reads escapes, and what ends in the middle of a line', () => {
  expect([...parseProperties('a\\ b\\=c=d\\te\\\nf\\')]).toEqual([['a b=c', 'd\tef']]);
  expect([...parseProperties('')]).toEqual([]);
});
