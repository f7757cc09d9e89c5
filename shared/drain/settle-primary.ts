import { byItem, type StoredCell } from '../sql/cell-rows.ts';
import { SqlError, type SqlClient, type Target } from '../sql/client.ts';
import { selectBodyHashes, toBodyHashes, type BodyHashes } from '../sql/statements/select-body-hashes.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import { selectCells } from '../sql/statements/select-cells.ts';
import { sameBody } from '../store/append.ts';
import { groupBy, type StoreContext } from '../store/context.ts';
import type { AppendPace } from './append-pace.ts';
import { appendRows, openRows, type AppendedRows, type OpenRow } from './append-rows.ts';

/** What became of a page's rows of one primary. Rows named nowhere wait for the next pass. */
export interface Settled extends AppendedRows {
  readonly drained: WaitingRow[];
}

export interface Settling {
  /** The group whose buffer table holds the rows. */
  readonly holder: SqlClient;
  readonly primary: string;
  readonly pace: AppendPace;
}

/**
 * Settles buffered writes of one primary with a statement per node: a row may go when every node that could be
 * promoted shows its body. What the writer lacks is appended there; a reader that lags, or is down, just makes the row
 * wait.
 *
 * @throws SqlError when the primary could not be asked
 */
export async function settlePrimary(context: StoreContext, { holder, primary, pace }: Settling, rows: readonly WaitingRow[]): Promise<Settled> {
  const settled: Settled = { drained: [], conflicts: [], failed: [], appended: 0 };
  const client = await context.groups.client(primary);
  const { promotable, onWriter } = await askNodes(client, rows);
  const writer = onWriter ?? shownBy(rows, toBodyHashes(await client.select(selectBodyHashes(rows), 'writer'), rows.length));

  const [missing, different]: [WaitingRow[], WaitingRow[]] = [[], []];
  for (const [place, row] of rows.entries()) {
    // Rows that only wait for readers, as all do while one is down, are not fetched anew in each pass.
    if (promotable?.every(({ shown }) => shown[place] === 'same')) settled.drained.push(row);
    else if (writer[place] === 'missing') missing.push(row);
    else if (writer[place] === 'different') different.push(row);
  }
  const open = new Map((await openRows(holder, [...missing, ...different], settled)).map((row) => [row.id, row]));
  const opened = (some: readonly WaitingRow[]): OpenRow[] => some.flatMap(({ id }) => open.get(id) ?? []);
  for (const [datastore, ofDatastore] of groupBy(opened(different), (row) => row.datastore)) {
    const present = await judgeDifferent(client, datastore, ofDatastore, settled);
    if (promotable) await drainDifferent(client, datastore, present, { rows, promotable, settled });
  }
  await appendMissing(context, pace, opened(missing), settled);
  return settled;
}

type Verdict = 'same' | 'missing' | 'different';

/** What one node shows for each row, by hash. */
interface NodeVerdict {
  readonly target: Target;
  readonly shown: readonly Verdict[];
}

/** What a group's nodes show; undefined where not all of them, or not the writer, could be asked. */
interface Shown {
  /** Of each node that could be promoted. */
  readonly promotable: readonly NodeVerdict[] | undefined;
  readonly onWriter: readonly Verdict[] | undefined;
}

/**
 * Asks every node: a buffered copy may go only once each of those that could be promoted shows the cell, since any may
 * be the next writer. One that is down may come back and be promoted, so its word is waited for.
 */
async function askNodes(client: SqlClient, rows: readonly WaitingRow[]): Promise<Shown> {
  // Shared storage: a promoted node shows what the writer shows. Without readers there is nothing to promote.
  if (!client.abilities.survivesDiskLoss || client.nodes < 2) {
    const { shown } = (await askNode(client, 'writer', rows)) ?? {};
    return { promotable: shown && [{ target: 'writer', shown }], onWriter: shown };
  }
  const targets = Array.from({ length: client.nodes }, (_, node) => ({ node }));
  const answers = await Promise.all(targets.map((target) => askNode(client, target, rows)));
  const silent = answers.filter((answer) => answer === undefined).length;
  const [writer, ...others] = answers.filter((answer) => answer?.writable);
  // One node is the writer: the one that takes writes, else the one that is silent. All others have to be heard.
  const writers = writer ? 1 + others.length : 0;
  return {
    promotable: silent + writers > 1 ? undefined : answers.flatMap((answer, node) => (answer && !answer.writable ? [{ target: { node }, shown: answer.shown }] : [])),
    onWriter: others.length === 0 ? writer?.shown : undefined,
  };
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

async function appendMissing(context: StoreContext, pace: AppendPace, rows: readonly OpenRow[], settled: Settled): Promise<void> {
  const ends = await Promise.allSettled(
    [...groupBy(rows, ({ datastore, shard }) => `${datastore}/${shard}`).values()].map(async (ofShard) => {
      const [{ datastore, shard } = { datastore: '', shard: 0 }] = ofShard;
      await pace(ofShard.length);
      await appendRows(context, { datastore, shard }, ofShard, settled);
    }),
  );
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/** Marks what the writer contradicts. Returns the rows whose equal body is encoded otherwise there: keys in another order. */
async function judgeDifferent(client: SqlClient, datastore: string, rows: readonly OpenRow[], settled: Settled): Promise<OpenRow[]> {
  const found = await fetchCells(client, 'writer', datastore, rows);
  return rows.filter((row, place) => {
    const cell = found[place];
    if (!cell) return false;
    const isSame = sameBody(cell, row);
    if (!isSame) settled.conflicts.push(row);
    return isSame;
  });
}

/** Of rows whose body the writer has in another encoding: those may go that the readers have in it, too. */
async function drainDifferent(
  client: SqlClient,
  datastore: string,
  present: readonly OpenRow[],
  { rows, promotable, settled }: { readonly rows: readonly WaitingRow[]; readonly promotable: readonly NodeVerdict[]; readonly settled: Settled },
): Promise<void> {
  const places = new Map(rows.map(({ id }, place) => [id, place]));
  const candidates = present.filter(({ id }) => promotable.every(({ shown }) => shown[places.get(id) ?? -1] !== 'missing'));
  if (candidates.length === 0) return;
  const shown = await Promise.all(promotable.map(({ target }) => fetchCells(client, target, datastore, candidates).catch(() => [])));
  for (const [place, row] of candidates.entries()) {
    if (shown.every((cells) => cells[place] && sameBody(cells[place], row))) settled.drained.push(row);
  }
}

async function fetchCells(client: SqlClient, target: Target, datastore: string, rows: readonly OpenRow[]): Promise<readonly (StoredCell | undefined)[]> {
  if (rows.length === 0) return [];
  const keys = rows.map(({ row_key, column_name, ref_key, shard }) => ({ key: { row_key, column_name, ref_key }, shard }));
  return byItem(await client.select(selectCells(datastore, keys, false), target), rows.length).map(({ cells: [cell] }) => cell);
}
