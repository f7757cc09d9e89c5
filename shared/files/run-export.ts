import type { SchemalessClient } from '../client/client.ts';
import type { Leases } from '../dynamo/lease.ts';
import { underLease } from '../dynamo/under-lease.ts';
import { exportCells, type ExportOptions, type ExportReport } from './export-cells.ts';
import { type ExportTarget, whileHeld } from './target.ts';

export const LEASE_MS = 30_000;
const RENEW_MS = 5000;
const TAKE_EVERY_MS = 2000;
/** Far longer than the lease of a killed process lasts: a lease still held then is that of a live run. */
const BUSY_MS = 120_000;
/** A shard that returns nothing for so long is left for the next run: it would delay the others. */
const PATIENCE_MS = 20_000;
/** JSON bytes of a file. 48 files of NDJSON, each with up to 4 MiB more, take at most 1.7 GiB of disk unpacked. */
const FILE_BYTES = 32 * 1024 * 1024;

export interface ExportRunOptions extends Pick<
  ExportOptions,
  'target' | 'format' | 'compression' | 'read' | 'patienceMs'
> {
  readonly leases: Leases;
  /** Ends the run in order: what has come is written down. */
  readonly signal: AbortSignal;
  /** Comes later: from then on nothing is written, nor asked. */
  readonly last: AbortSignal;
  readonly fileBytes?: number | undefined;
  /** For so long it waits for a run that is under way. @default 120,000 */
  readonly busyMs?: number | undefined;
  readonly renewMs?: number | undefined;
}

interface ExportRunReport {
  readonly parts: readonly string[];
  /** In these, and in one that is not complete yet. */
  readonly cells: number;
  readonly bytes: number;
  /** Cells that were there when the last part was planned, and are left for the next run. */
  readonly left: number;
  readonly silent: number;
  /** Seconds: whatever is older is in parts that are complete. 0 where nothing was left. */
  readonly behindSeconds: number;
  readonly seconds: number;
}

/**
 * Runs one scheduled export: writes what came since the last one, as one or several parts; a kill costs only files that
 * were not stored. It holds a lease, since two runs would write different files of one name, and writes nothing once it
 * lost it. Returns undefined if another run held it all the time.
 */
export async function runExport(
  client: SchemalessClient,
  options: ExportRunOptions,
): Promise<ExportRunReport | undefined> {
  const { target, leases, last, busyMs = BUSY_MS, renewMs = RENEW_MS } = options;
  const waiting = new AbortController();
  const busy = setTimeout(() => waiting.abort(), busyMs);
  const leased = {
    leases,
    name: leaseOf(target),
    renewMs,
    takeEveryMs: Math.min(TAKE_EVERY_MS, busyMs),
    isExclusive: true,
    signal: AbortSignal.any([waiting.signal, last]),
  };
  try {
    const ended = await underLease(leased, (held) => {
      clearTimeout(busy);
      const heldTarget = whileHeld(target, () => held.throwIfAborted());
      return exportShares(client.with({ signal: held }), { ...options, target: heldTarget });
    });
    return ended?.result;
  } finally {
    clearTimeout(busy);
  }
}

export function leaseOf({ name }: Pick<ExportTarget, 'name'>): string {
  return `export#${name}`;
}

/** Part by part, as long as files are full before their shards are. */
async function exportShares(client: SchemalessClient, options: ExportRunOptions): Promise<ExportRunReport> {
  const { signal, fileBytes = FILE_BYTES, patienceMs = PATIENCE_MS } = options;
  const desired = { ...options, patienceMs, slice: { fileBytes }, sinceLast: true };
  const began = performance.now();
  const parts: string[] = [];
  let [cells, bytes] = [0, 0];
  let report: ExportReport;
  do {
    report = await exportCells(client, desired);
    if (report.complete && report.part !== undefined) parts.push(report.part);
    cells += report.cells;
    bytes += report.bytes;
    // One that is down would have the others wait for it again and again.
  } while (!signal.aborted && report.complete && report.left > 0 && report.silent === 0);
  const { left, silent, exported_until: exportedUntil } = report;
  const isUpToDate = report.complete && left === 0 && silent === 0;
  const behindSeconds = isUpToDate ? 0 : Math.max(0, (Date.now() - Date.parse(exportedUntil)) / 1000);
  return { parts, cells, bytes, left, silent, behindSeconds, seconds: (performance.now() - began) / 1000 };
}
