import type { BillLine, Needs } from '../plan.ts';
import { costOf, GB, HOURS_A_MONTH, PRICES, SECONDS_A_MONTH } from '../prices.ts';
import type { ElsewhereAssumptions } from './assumptions.ts';
import type { Elsewhere } from './elsewhere.ts';

/** DPUs of the work of one second. */
export interface Dpus {
  readonly writes: number;
  readonly reads: number;
  /** Changes streamed for triggers. */
  readonly streamed: number;
}

/**
 * How Aurora DSQL counts, by AWS's user guide (How billing works in Aurora DSQL, a copy of summer 2026): a DPU is a
 * second of computing; bytes are of whole transactions, with a least.
 */
const DPU_OF = { writtenByte: 0.00004883, readByte: 0.00000183105, streamedByte: 0.0000023283, computedMs: 1 / 1000 };
const LEAST_ROW = 128;
const LEAST_WRITTEN = 1024;
const LEAST_READ = 2048;
/** A record of Kinesis is counted in whole KB. */
const RECORD_UNIT = 1024;
/** What a cluster may hold by default, of AWS's documentation of quotas. */
const MOST_BYTES = 10 * 1024 * GB;

/**
 * A put is one transaction: it inserts the cell's row, and puts the row of its latest fields, over which the indexes
 * are; the keys are read before. A read is one row by its key.
 */
export function dpusOf({ load, traffic, assumptions: { entriesPerWrite, triggersPerWrite, elsewhere } }: Needs): Dpus {
  const { encodedCellBytes, addressBytes, dsqlWriteMs, dsqlReadMs } = elsewhere;
  const keys = LEAST_READ * DPU_OF.readByte;
  const row = Math.max(encodedCellBytes + addressBytes, LEAST_READ) * DPU_OF.readByte;
  const written = Math.max(writtenBytes(elsewhere, entriesPerWrite), LEAST_WRITTEN) * DPU_OF.writtenByte;
  const streamed = sum(recordsOf(elsewhere, entriesPerWrite)) * DPU_OF.streamedByte;
  return {
    writes: load.writesPerSecond * (written + keys + dsqlWriteMs * DPU_OF.computedMs),
    reads: traffic.reads * (row + dsqlReadMs * DPU_OF.computedMs),
    streamed: triggersPerWrite > 0 ? load.writesPerSecond * streamed : 0,
  };
}

/**
 * Aurora DSQL in one region. For triggers its changes go to a stream of Kinesis on demand, which calls functions. Not
 * counted: copies by AWS Backup, of whose price no source was found; it has no setting back to any second.
 */
export function dsqlFor(needs: Needs): Elsewhere {
  const { load, assumptions } = needs;
  const { entriesPerWrite, triggersPerWrite, monthsKept, elsewhere } = assumptions;
  const dpus = dpusOf(needs);
  const stored = load.writesPerSecond * SECONDS_A_MONTH * monthsKept * writtenBytes(elsewhere, entriesPerWrite);
  const units = sum(recordsOf(elsewhere, entriesPerWrite).map((bytes) => Math.ceil(bytes / RECORD_UNIT)));
  const recorded = (load.writesPerSecond * SECONDS_A_MONTH * units * RECORD_UNIT) / GB;
  const storage = costOf(PRICES.dsqlGb, stored / GB);
  const bill: readonly BillLine[] = [
    { name: 'writes', usd: costOf(PRICES.dpu, dpus.writes * SECONDS_A_MONTH) },
    { name: 'reads', usd: costOf(PRICES.dpu, dpus.reads * SECONDS_A_MONTH) },
    { name: 'storage', usd: storage },
    { name: 'changes streamed', usd: costOf(PRICES.dpu, dpus.streamed * SECONDS_A_MONTH) },
    {
      name: 'Kinesis',
      usd:
        triggersPerWrite > 0
          ? costOf(PRICES.streamHour, HOURS_A_MONTH) +
            costOf(PRICES.streamGbIn, recorded) +
            // Each trigger's function reads all of it.
            costOf(PRICES.streamGbOut, triggersPerWrite * recorded)
          : 0,
    },
  ];
  return {
    bill,
    monthlyUsd: sum(bill.map(({ usd }) => usd)),
    storedUsd: storage / monthsKept,
    isExceeded: stored > MOST_BYTES,
  };
}

/** Of a cell: its row, that of its latest fields, and entries. The latest row is counted for each cell, not each row. */
function writtenBytes({ encodedCellBytes, addressBytes, entryBytes }: ElsewhereAssumptions, entries: number): number {
  const cell = Math.max(encodedCellBytes + addressBytes, LEAST_ROW);
  const ofFields = Math.max(entryBytes, LEAST_ROW);
  return cell + (entries > 0 ? ofFields + entries * ofFields : 0);
}

/** Bytes of what is streamed of a cell: a stream has the changed rows of all tables, not of indexes. */
function recordsOf(
  { encodedCellBytes, addressBytes, entryBytes, envelopeBytes }: ElsewhereAssumptions,
  entries: number,
): readonly number[] {
  const cell = encodedCellBytes + addressBytes + envelopeBytes;
  return entries > 0 ? [cell, entryBytes + envelopeBytes] : [cell];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
