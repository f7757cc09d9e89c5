import { byItem, type StoredCell } from '../sql/cell-rows.ts';
import { SqlError, type SqlClient, type Target } from '../sql/client.ts';
import { selectBodyHashes, toBodyHashes, type BodyHashes } from '../sql/statements/select-body-hashes.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import { selectCells } from '../sql/statements/select-cells.ts';
import { sameBody } from '../store/append.ts';
import { groupBy, type StoreContext } from '../store/context.ts';
import type { AppendPace } from './append-pace.ts';
import { appendRows, openRows, type AppendedRows, type OpenRow } from './append-rows.ts';

/** What became of a page's rows of one primary, by id. Rows named nowhere wait for the next pass. */
export interface Settled extends AppendedRows {
  readonly drained: number[];
}

export interface Settling {
  /** The group whose buffer table holds the rows. */
  readonly holder: SqlClient;
  readonly primary: string;
  readonly pace: AppendPace;
}

/**
 * Settles buffered writes of one primary with a statement per node: a row may go when every node that could be
 * promoted shows its body. What is missing there is looked for on the writer, and appended where it is missing there
 * too; a reader that lags, or is down, just makes the row wait.
 *
 * @throws SqlError when the primary could not be asked
 */
export async function settlePrimary(context: StoreContext, { holder, primary, pace }: Settling, rows: readonly WaitingRow[]): Promise<Settled> {
  const settled: Settled = { drained: [], conflicts: [], failed: [], appended: 0 };
  const client = await context.groups.client(primary);
  const verdicts = await askPromotable(client, rows);

  const unsure = rows.filter((row, place) => {
    const safe = verdicts?.every(({ shown }) => shown[place] === 'same') ?? false;
    if (safe) settled.drained.push(row.id);
    return !safe;
  });
  if (unsure.length === 0) return settled;

  // Rows that only wait for readers, as all do while one is down, are not fetched anew in each pass.
  const onWriter = shownBy(unsure, toBodyHashes(await client.select(selectBodyHashes(unsure), 'writer'), unsure.length));
  const open = await openRows(holder, unsure.filter((_, place) => onWriter[place] !== 'same'), settled);
  for (const [datastore, ofDatastore] of groupBy(open, (row) => row.datastore)) {
    const different = await settleOnWriter(context, { client, pace, datastore }, ofDatastore, settled);
    if (verdicts) await settleDifferent(client, datastore, different, { rows, verdicts, settled });
  }
  return settled;
}

type Verdict = 'same' | 'missing' | 'different';

/** What one node shows for each row, by hash. */
interface NodeVerdict {
  readonly target: Target;
  readonly shown: readonly Verdict[];
}

/**
 * Asks every node that could be promoted: a buffered copy may go only once each of them shows the cell, since any may
 * be the next writer. One that is down may come back and be promoted, so its word is waited for.
 *
 * @returns undefined when not all could be asked
 */
async function askPromotable(client: SqlClient, rows: readonly WaitingRow[]): Promise<readonly NodeVerdict[] | undefined> {
  // Shared storage: a promoted node shows what the writer shows. Without readers there is nothing to promote.
  if (!client.abilities.survivesDiskLoss || client.nodes < 2) {
    const { shown } = (await askNode(client, 'writer', rows)) ?? {};
    return shown && [{ target: 'writer', shown }];
  }
  const targets = Array.from({ length: client.nodes }, (_, node) => ({ node }));
  const answers = await Promise.all(targets.map((target) => askNode(client, target, rows)));
  const silent = answers.filter((answer) => answer === undefined).length;
  const writers = answers.filter((answer) => answer?.writable).length;
  // One node is the writer: the one that takes writes, else the one that is silent. All others have to be heard.
  if (silent + writers > 1) return undefined;
  return answers.flatMap((answer, node) => (answer && !answer.writable ? [{ target: { node }, shown: answer.shown }] : []));
}

async function askNode(client: SqlClient, target: Target, rows: readonly WaitingRow[]): Promise<{ readonly writable: boolean; readonly shown: readonly Verdict[] } | undefined> {
  try {
    const answer = toBodyHashes(await client.select(selectBodyHashes(rows), target), rows.length);
    return { writable: answer.writable, shown: shownBy(rows, answer) };
  } catch (error) {
    if (error instanceof SqlError) return undefined;
    throw error;
  }
}

function shownBy(rows: readonly WaitingRow[], { hashes }: BodyHashes): Verdict[] {
  return rows.map(({ body_hash }, place): Verdict => {
    const hash = hashes[place];
    if (hash === undefined) return 'missing';
    return hash !== null && Buffer.compare(hash, body_hash) === 0 ? 'same' : 'different';
  });
}

/** Appends what the writer lacks, marks what it contradicts. Returns the rows whose equal body is encoded otherwise. */
async function settleOnWriter(context: StoreContext, { client, pace, datastore }: { readonly client: SqlClient; readonly pace: AppendPace; readonly datastore: string }, rows: readonly OpenRow[], settled: Settled): Promise<OpenRow[]> {
  const found = await fetchCells(client, 'writer', datastore, rows);
  const missing: OpenRow[] = [];
  const present: OpenRow[] = [];
  for (const [place, row] of rows.entries()) {
    const cell = found[place];
    if (!cell) missing.push(row);
    else if (sameBody(cell, row)) present.push(row);
    else settled.conflicts.push(row.id);
  }
  const ends = await Promise.allSettled(
    [...groupBy(missing, ({ shard }) => shard)].map(async ([shard, ofShard]) => {
      await pace(ofShard.length);
      await appendRows(context, { datastore, shard }, ofShard, settled);
    }),
  );
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
  return present;
}

/** Rows whose body the writer has: the readers may show the same body in another encoding (keys in another order). */
async function settleDifferent(
  client: SqlClient,
  datastore: string,
  present: readonly OpenRow[],
  { rows, verdicts, settled }: { readonly rows: readonly WaitingRow[]; readonly verdicts: readonly NodeVerdict[]; readonly settled: Settled },
): Promise<void> {
  const places = new Map(rows.map(({ id }, place) => [id, place]));
  const candidates = present.filter(({ id }) => verdicts.every(({ shown }) => shown[places.get(id) ?? -1] !== 'missing'));
  if (candidates.length === 0) return;
  const shown = await Promise.all(verdicts.map(({ target }) => fetchCells(client, target, datastore, candidates).catch(() => [])));
  for (const [place, row] of candidates.entries()) {
    if (shown.every((cells) => cells[place] && sameBody(cells[place], row))) settled.drained.push(row.id);
  }
}

async function fetchCells(client: SqlClient, target: Target, datastore: string, rows: readonly OpenRow[]): Promise<readonly (StoredCell | undefined)[]> {
  if (rows.length === 0) return [];
  const keys = rows.map(({ row_key, column_name, ref_key, shard }) => ({ key: { row_key, column_name, ref_key }, shard }));
  return byItem(await client.select(selectCells(datastore, keys, false), target), rows.length).map(({ cells: [cell] }) => cell);
}
