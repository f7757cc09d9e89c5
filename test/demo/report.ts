import type { BillingFindings } from './billing/demo-billing.ts';
import type { IndexFindings } from './check-index.ts';
import type { BodySizes } from './stored-size.ts';
import { grouped, textTable } from '../support/text-table.ts';
import type { Written } from './write.ts';

/** How many were read back equal in each way; undefined where there was no reader to ask. */
export interface Verified {
  readonly writer: number;
  readonly readers: number | undefined;
  readonly latest: number;
  readonly versions: number;
  readonly writerLogs: number;
  readonly readerLogs: number | undefined;
}

interface DemoResults {
  readonly trips: number;
  readonly written: Written;
  readonly verified: Verified;
  readonly indexed: IndexFindings;
  /** Undefined where there is no trigger. */
  readonly billing: BillingFindings | undefined;
  readonly sizes: BodySizes;
}

/** The order in which outcomes are listed. */
const OUTCOMES = ['stored', 'stored_before', 'buffered', 'conflict', 'unavailable', 'repeated'] as const;

/** The closing table: what was written, what of it was read back equal, how fast, how large. */
export function report({ trips, written, verified, indexed, billing, sizes }: DemoResults): readonly string[] {
  const outcomes = OUTCOMES.filter((outcome) => written.outcomes.has(outcome)).map(
    (outcome) => `${outcome} ${grouped(written.outcomes.get(outcome) ?? 0)}`,
  );
  const share = Math.round((100 * sizes.stored) / Math.max(1, sizes.json));
  return textTable(
    [
      ['trips', grouped(trips), ''],
      ['cells written', grouped(written.cells), outcomes.join(', ')],
      ['equal from writers', grouped(verified.writer), 'every cell by its address'],
      [
        'equal from readers',
        verified.readers === undefined ? '-' : grouped(verified.readers),
        verified.readers === undefined ? 'no reader runs' : 'once caught up',
      ],
      ['equal latest cells', grouped(verified.latest), 'of each column of each row'],
      ['equal version lists', grouped(verified.versions), 'of columns with several cells'],
      [
        'found in the logs',
        grouped(verified.writerLogs),
        `once each, without holes, in ${grouped(written.shards.size)} shards`,
      ],
      ['  of the readers', verified.readerLogs === undefined ? '-' : grouped(verified.readerLogs), ''],
      ['found by the index', grouped(indexed.drivers), 'drivers, each with all of their trips'],
      [
        'cells per second',
        grouped(written.cells / Math.max(0.001, written.seconds)),
        `in ${written.seconds.toFixed(1)} s`,
      ],
      ['put', latency(written.putMs), `p50 / p99 of ${grouped(written.putMs.length)} requests`],
      ['batch-put', latency(written.batchMs), `p50 / p99 of ${grouped(written.batchMs.length)} requests`],
      ...(billing === undefined ? [] : billingRows(billing)),
      ['bytes a cell', grouped(sizes.stored), `stored; ${grouped(sizes.json)} as JSON (${share} %)`],
    ],
    [1],
  );
}

function billingRows({ billed, attempts, parked, lagsMs }: BillingFindings): readonly (readonly string[])[] {
  const needed = [...attempts].map(([attempt, trips]) => `${grouped(trips)} at attempt ${attempt}`).join(', ');
  return [
    ['billed by the trigger', grouped(billed), `trips, each exactly once: ${needed}`],
    ['first tried after', latency(lagsMs), 'p50 / p99, from its cell to what the attempt wrote'],
    ['parked on the way', grouped(parked), 'cells that failed too often, and were sent again'],
  ];
}

function latency(milliseconds: readonly number[]): string {
  if (milliseconds.length === 0) return '-';
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
  return `${at(0.5)} / ${at(0.99)} ms`;
}
