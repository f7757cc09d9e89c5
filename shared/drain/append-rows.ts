import { decodeBody } from '../body/codec.ts';
import { keepEntries } from '../index/keep-entries.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import type { EncodedCell, ShardFence } from '../sql/statements/append-cells.ts';
import { bodyHash } from '../sql/statements/insert-buffered.ts';
import { selectBuffered, toBufferRow, type WaitingRow } from '../sql/statements/select-buffered.ts';
import { appendToPrimary } from '../store/append.ts';
import type { StoreContext } from '../store/context.ts';

/** A buffered write whose body was fetched and can be decoded. */
export interface OpenRow extends WaitingRow, EncodedCell {}

/** What became of rows. */
export interface AppendedRows {
  readonly conflicts: WaitingRow[];
  readonly failed: { readonly row: WaitingRow; readonly error: string }[];
  appended: number;
}

export type AppendedLog = Omit<ShardFence, 'epoch'>;

/** Fetches the bodies, in the order of the buffer; one that was damaged, or cannot be decoded, is a failure of its row. */
export async function openRows(holder: SqlClient, rows: readonly WaitingRow[], settled: Pick<AppendedRows, 'failed'>): Promise<OpenRow[]> {
  if (rows.length === 0) return [];
  const fetched = await holder.select(selectBuffered(rows.map(({ id }) => id)), 'writer');
  return fetched.map(toBufferRow).sort((one, other) => one.id - other.id).flatMap(({ body, ...row }): OpenRow[] => {
    try {
      if (Buffer.compare(bodyHash(body), row.body_hash) !== 0) throw new Error('the body is not the one that was buffered');
      return [{ ...row, encoded: body, body: decodeBody(body) }];
    } catch (error) {
      settled.failed.push({ row, error: `cannot be used: ${(error as Error).message}` });
      return [];
    }
  });
}

/** Appends rows of one shard in the order of the buffer; two bodies for one address go one after the other. */
export async function appendRows(context: StoreContext, log: AppendedLog, rows: readonly OpenRow[], settled: AppendedRows): Promise<void> {
  const { datastore, shard } = log;
  const first: OpenRow[] = [];
  const later: OpenRow[] = [];
  const addresses = new Set<string>();
  for (const row of rows) {
    const address = `${row.row_key}/${row.ref_key}/${row.column_name}`;
    (addresses.has(address) ? later : first).push(row);
    addresses.add(address);
  }
  try {
    const results = await appendToPrimary(context, datastore, shard, first, log);
    for (const [place, { outcome }] of results.entries()) {
      if (outcome === 'conflict') settled.conflicts.push(first[place] as OpenRow);
      else if (outcome === 'stored') settled.appended += 1;
    }
    await keepEntries(context, datastore, first.filter((_, place) => results[place]?.outcome !== 'conflict'));
  } catch (error) {
    if (!(error instanceof SqlError) || error.failure !== 'rejected') throw error;
    // The server refuses the statement, perhaps for one of its cells: each by itself then.
    const [only, ...others] = first;
    if (only && others.length === 0) settled.failed.push({ row: only, error: error.message });
    else for (const row of first) await appendRows(context, log, [row], settled);
  }
  if (later.length > 0) await appendRows(context, log, later, settled);
}
