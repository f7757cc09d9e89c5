import { expect, it } from 'vitest';
import { countOlder, judgeOld, type AnsweredRead, type AnsweredWrite } from './judge-router.ts';

const read = (begun: number, answer?: AnsweredRead['answer'], shard = 1): AnsweredRead => ({
  shard,
  row_key: 'row',
  begun,
  ended: begun + 5,
  ...(answer && { answer }),
});
const write = (begun: number, outcome: string, shard = 1): AnsweredWrite => ({
  shard,
  begun,
  ended: begun + 5,
  outcome,
});
const acked = [
  { row_key: 'row', version: 1, at: 100 },
  { row_key: 'row', version: 2, at: 200 },
  { row_key: 'other', version: 9, at: 100 },
];

it('what an instance is answered by the former group counts from when the shard was elsewhere until it hears of that', () => {
  const writes = [
    write(150, 'stored'),
    write(250, 'stored'),
    write(260, 'buffered'),
    write(270, 'stored', 2),
    write(297, 'stored'),
  ];
  const reads = [
    read(150, { version: 1, stale: false }),
    read(250, { version: 1, stale: false }),
    read(260, { version: 2, stale: false }),
    read(270, { version: 1, stale: true }),
    read(280),
    read(290, { version: 1, stale: false }, 2),
    read(297, { version: 1, stale: false }),
  ];
  expect(judgeOld({ from: new Map([[1, 200]]), to: 300 }, { writes, reads }, acked)).toEqual({
    writes: 2,
    taken: 1,
    reads: 4,
    unmarked: 2,
    older: 1,
    refused: 1,
  });
});

it('an answer is older where it lacks what was acknowledged before it was asked for', () => {
  expect(countOlder([read(150, { version: 0, stale: false })], acked)).toBe(1);
  expect(countOlder([read(150, { version: 1, stale: false }), read(201, { version: 2, stale: false })], acked)).toBe(0);
});
