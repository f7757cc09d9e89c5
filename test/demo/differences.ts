import type { CellAddress } from '../../shared/cell.ts';

/** How many differences are kept to be shown; all are counted. */
const SHOWN = 10;

/** Counts of comparisons, and the first differences. */
export class Differences {
  passed = 0;
  failed = 0;
  readonly first: string[] = [];

  /** @param where a cell, or a place like "shard 17" */
  fail(where: CellAddress | string, what: string): void {
    this.failed += 1;
    if (this.first.length >= SHOWN) return;
    this.first.push(`${typeof where === 'string' ? where : addressText(where)}: ${what}`);
  }
}

/** `row_key/column name/ref_key`, one text for each address. */
export function addressText({ row_key, column_name, ref_key }: CellAddress): string {
  return `${row_key}/${column_name}/${ref_key}`;
}
