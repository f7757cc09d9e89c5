import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { plansAtRest, tables, withTables } from '../../../infra/capacity/document.ts';
import type { Plan } from '../../../infra/capacity/plan.ts';

const DOCUMENT = new URL('../../../infra/docs/operations/capacity.md', import.meta.url);
const PAGES = ['README.md', 'infra/docs/aws.md']
  .map((file) => ({ file, url: new URL(`../../../${file}`, import.meta.url) }))
  .filter(({ url }) => existsSync(url));

describe('the document on capacity', () => {
  it.each(Object.entries(tables()))('has the table of %s that the code makes', (name, table) => {
    const [, written] =
      new RegExp(`<!-- ${name} -->\\n([\\s\\S]*?)\\n<!-- /${name} -->`, 'u').exec(readFileSync(DOCUMENT, 'utf8')) ?? [];
    expect(written, 'npm run capacity -- --write').toBe(table);
  });

  it('is not changed by writing its tables again', () => {
    const text = readFileSync(DOCUMENT, 'utf8');
    expect(withTables(text)).toBe(text);
  });

  it('is refused where a table has no place in it', () => {
    expect(() => withTables('# Capacity\n', { needs: '| a |' })).toThrow(
      'needs: wanted <!-- needs --> and <!-- /needs --> around its table, got neither or one',
    );
    expect(withTables('<!-- needs -->\n<!-- /needs -->\n', { needs: '| $1 |' })).toBe(
      '<!-- needs -->\n| $1 |\n<!-- /needs -->\n',
    );
  });
});

describe.each(PAGES)('$file', ({ url }) => {
  it('says what the environments cost at rest, in two digits', () => {
    const { dev, devPaused, small, smallPaused, staging, prod } = plansAtRest();
    const text = readFileSync(url, 'utf8').replaceAll(/\s+/gu, ' ');
    const said = [...text.matchAll(/(?<of>`\w+`(?: without schedules)?) about (?<usd>[\d,]+) USD/gu)].map(
      ({ groups }) => [groups?.['of'], groups?.['usd']],
    );
    const inTwoDigits = ({ monthlyUsd }: Plan): string =>
      Math.round(Number(monthlyUsd.toPrecision(2))).toLocaleString('en-US');
    expect(Object.fromEntries(said)).toEqual({
      '`prod`': inTwoDigits(prod),
      '`staging`': inTwoDigits(staging),
      '`small`': inTwoDigits(small),
      '`small` without schedules': inTwoDigits(smallPaused),
      '`dev`': inTwoDigits(dev),
      '`dev` without schedules': inTwoDigits(devPaused),
    });
  });
});
