import type { BillLine, Needs } from '../plan.ts';
import { costOf, GB, HOURS_A_MONTH, PRICES, SECONDS_A_MONTH } from '../prices.ts';
import type { Elsewhere } from './elsewhere.ts';

/** How DynamoDB is paid for, and what its index finds. */
export interface DynamoDbWay {
  readonly capacity: 'on-demand' | 'provisioned';
  /**
   * `versions`: an index over the items of cells finds superseded ones, too, which readers leave out. `latest`: each
   * write also puts an item of the row's latest fields, in one transaction, and the index is over those.
   */
  readonly finds: 'versions' | 'latest';
}

/** Capacity units of one second. */
export interface Units {
  /** Of the table's items. */
  readonly items: number;
  /** Of its indexes. */
  readonly entries: number;
  readonly reads: number;
}

const WRITE_UNIT = 1024;
const READ_UNIT = 4096;
/** An item of a transaction takes two units for each KB; entries of its indexes take one. */
const IN_TRANSACTION = 2;
/** What a table, and each of its indexes, may take a second by default, of writes and of reads: AWS's documentation. */
const UNITS_OF_A_TABLE = 40_000;

/**
 * What is written: one item for each cell, on the condition that there is none, so that versions stay; each entry is one
 * of a global secondary index (one of a latest item is taken to be new: one whose key changed takes two). Reads are
 * strongly consistent, of one item: the greatest ref key of its row and column.
 */
export function unitsOf(
  { load, traffic, assumptions: { entriesPerWrite, elsewhere } }: Needs,
  finds: DynamoDbWay['finds'],
): Units {
  const { encodedCellBytes, addressBytes, entryBytes } = elsewhere;
  const cell = Math.ceil((encodedCellBytes + addressBytes) / WRITE_UNIT);
  const latest = Math.ceil(entryBytes / WRITE_UNIT);
  const items = finds === 'latest' && entriesPerWrite > 0 ? IN_TRANSACTION * (cell + latest) : cell;
  return {
    items: load.writesPerSecond * items,
    entries: load.writesPerSecond * entriesPerWrite * Math.ceil(entryBytes / WRITE_UNIT),
    reads: traffic.reads * Math.ceil((encodedCellBytes + addressBytes) / READ_UNIT),
  };
}

/**
 * DynamoDB in one region, of the standard class, set back to any second of 35 days (PITR), as clusters here can be.
 * Streams call the functions of triggers: Lambda's reads of them are free. Not counted: reserved capacity, and the class
 * for items that are seldom read, which are cheaper; on-demand backups beside PITR, and restores.
 */
export function dynamoDbFor(needs: Needs, { capacity, finds }: DynamoDbWay): Elsewhere {
  const { provisionedUse } = needs.assumptions.elsewhere;
  const units = unitsOf(needs, finds);
  const stored = storedOf(needs, finds);
  const writes = units.items + units.entries;
  // What of it is idle is paid for, too.
  const provisioned = capacity === 'provisioned' ? 1 / provisionedUse : 1;
  const throughput: readonly BillLine[] =
    capacity === 'on-demand'
      ? [
          { name: 'writes', usd: costOf(PRICES.writeUnit, writes * SECONDS_A_MONTH) },
          { name: 'reads', usd: costOf(PRICES.readUnit, units.reads * SECONDS_A_MONTH) },
        ]
      : [
          { name: 'writes', usd: costOf(PRICES.writeUnitHour, writes * provisioned * HOURS_A_MONTH) },
          { name: 'reads', usd: costOf(PRICES.readUnitHour, units.reads * provisioned * HOURS_A_MONTH) },
        ];
  const kept: readonly BillLine[] = [
    { name: 'storage', usd: costOf(PRICES.itemGb, (stored.table + stored.entries) / GB) },
    // Of tables alone: indexes are made anew.
    { name: 'PITR', usd: costOf(PRICES.recoverableItemGb, stored.table / GB) },
  ];
  const sum = (lines: readonly BillLine[]): number => lines.reduce((total, { usd }) => total + usd, 0);
  return {
    bill: [...throughput, ...kept],
    monthlyUsd: sum(throughput) + sum(kept),
    storedUsd: sum(kept) / needs.assumptions.monthsKept,
    isExceeded: Math.max(units.items, units.reads) * provisioned > UNITS_OF_A_TABLE,
  };
}

/** Bytes, once the months kept have passed. A latest item is one for each row, and is counted for each cell. */
function storedOf(
  { load, assumptions: { entriesPerWrite, monthsKept, elsewhere } }: Needs,
  finds: DynamoDbWay['finds'],
): { readonly table: number; readonly entries: number } {
  const { encodedCellBytes, addressBytes, entryBytes, itemOverheadBytes } = elsewhere;
  const cells = load.writesPerSecond * SECONDS_A_MONTH * monthsKept;
  const latest = finds === 'latest' && entriesPerWrite > 0 ? entryBytes + itemOverheadBytes : 0;
  return {
    table: cells * (encodedCellBytes + addressBytes + itemOverheadBytes + latest),
    entries: cells * entriesPerWrite * (entryBytes + itemOverheadBytes),
  };
}
