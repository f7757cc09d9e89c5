import { SchemalessError } from '../errors.ts';
import { shardOf } from '../shard.ts';
import { SqlError } from '../sql/client.ts';
import { deleteBuffered, failBuffered, markConflicts } from '../sql/statements/change-buffered.ts';
import { selectBacklog, toBacklog } from '../sql/statements/select-backlog.ts';
import { selectWaiting, toWaitingRow, type WaitingRow } from '../sql/statements/select-buffered.ts';
import { groupBy, type StoreContext } from '../store/context.ts';
import { appendPace, rateFor } from './append-pace.ts';
import { settlePrimary } from './settle-primary.ts';

export interface DrainSettings {
  /** Rows younger than this are still with their writer. @default 2 */
  readonly minimumAgeSeconds?: number;
  /** Rows a page; a statement asks for all of them, on each node of the primary, and is felt by its own writes. @default 100 */
  readonly pageRows?: number;
  /** Appends a second to all primaries together: their own writes come first. @default by what waits: see `rateFor` */
  readonly appendsPerSecond?: number;
  /** Failures of one row before it is parked. @default 5 */
  readonly maxAttempts?: number;
}

export interface DrainReport {
  /** Rows looked at. */
  seen: number;
  /** Rows deleted: every reader that could be promoted shows the cell. */
  drained: number;
  /** Rows whose cell was appended to its primary just now; they go once the readers show it. */
  appended: number;
  conflicts: number;
  /** Failures of rows themselves. */
  failed: number;
  /** Primaries that could not be asked. */
  readonly unreachable: Set<string>;
}

/** What asking the primary's nodes for a row costs them, next to appending it. */
const LOOK_SHARE = 0.25;

/**
 * Goes once through one group's buffer table, oldest first: deletes what its primary's readers show, appends to the
 * primary what is missing there, marks what lost against another body. One bad row, or a dead primary, never stops
 * the rest.
 *
 * @param mayGoOn asked before each page: false once the lease is lost or wanted
 */
export async function drainPass(context: StoreContext, holder: string, mayGoOn: () => boolean, settings: DrainSettings = {}): Promise<DrainReport> {
  const { minimumAgeSeconds = 2, pageRows = 100, appendsPerSecond, maxAttempts = 5 } = settings;
  const report: DrainReport = { seen: 0, drained: 0, appended: 0, conflicts: 0, failed: 0, unreachable: new Set() };
  const client = await context.groups.client(holder);
  const pace = appendPace(appendsPerSecond ?? rateFor(toBacklog(await client.select(selectBacklog(), 'writer'))));
  for (let after = 0; mayGoOn(); ) {
    const rows = (await client.select(selectWaiting(after, minimumAgeSeconds, pageRows), 'writer')).map(toWaitingRow);
    after = rows.at(-1)?.id ?? after;
    report.seen += rows.length;

    const { placed, lost } = await findPrimaries(context, rows);
    const failures: { readonly row: WaitingRow; readonly error: string }[] = [...lost];
    await Promise.all(
      [...groupBy(placed, ({ primary }) => primary)]
        .filter(([primary]) => !report.unreachable.has(primary))
        .map(async ([primary, ofPrimary]) => {
          try {
            const settled = await settlePrimary(context, { holder: client, primary, pace }, ofPrimary.map(({ row }) => row));
            if (settled.drained.length > 0) await client.change(deleteBuffered(settled.drained));
            if (settled.conflicts.length > 0) await client.change(markConflicts(settled.conflicts));
            report.drained += settled.drained.length;
            report.conflicts += settled.conflicts.length;
            report.appended += settled.appended;
            failures.push(...settled.failed);
          } catch (error) {
            if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
            report.unreachable.add(primary);
            context.report({ kind: 'primary_failed', group: primary, error });
          }
        }),
    );
    for (const { row, error } of failures) await client.change(failBuffered(row, error, maxAttempts));
    report.failed += failures.length;
    if (rows.length < pageRows) break;
    await pace(rows.length * LOOK_SHARE);
  }
  return report;
}

/** The group that owns each row's shard; a row that belongs nowhere is a failure of the row. */
async function findPrimaries(context: StoreContext, rows: readonly WaitingRow[]) {
  const placed: { readonly row: WaitingRow; readonly primary: string }[] = [];
  const lost: { readonly row: WaitingRow; readonly error: string }[] = [];
  for (const row of rows) {
    const topology = await context.topology.datastore(row.datastore);
    // A datastore may be so new that this instance has not heard of it: its rows wait, and the age of the oldest tells.
    if (!topology) continue;
    const place = topology.places[row.shard];
    if (!place) lost.push({ row, error: `no shard ${row.shard} of datastore ${row.datastore}` });
    else if (shardOf(row.row_key, topology.shards) !== row.shard) lost.push({ row, error: `row ${row.row_key} is not of shard ${row.shard}` });
    else placed.push({ row, primary: place.group });
  }
  return { placed, lost };
}
