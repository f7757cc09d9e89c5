import { SchemalessError } from '../errors.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { sideBySide } from '../side-by-side.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import type { StoreContext } from '../access/context.ts';
import type { AppendPace } from './append-pace.ts';
import { appendRows, refusesAll, type AppendedRows, type RefusedRow } from './append-rows.ts';
import { askNodes, type NodeAnswers, type ShardRows } from './ask-nodes.ts';
import { COMPARED_ROWS, compareRows } from './compare-rows.ts';
import { decideCopy } from './decide.ts';
import { openRows, type FaultyRow, type OpenRow } from './open-rows.ts';

/** What became of some shards' rows. Rows named nowhere wait. */
export interface Settled {
  readonly drained: WaitingRow[];
  readonly conflicts: WaitingRow[];
  /** What they hold was erased: they go, and nothing is kept of them. */
  readonly erased: WaitingRow[];
  readonly faulty: FaultyRow[];
  /** The server refused them by themselves. */
  readonly refused: RefusedRow[];
  /** Shards that could not be worked on: their rows are not done, and are tried later. */
  readonly failed: Map<ShardRows, SqlError | SchemalessError>;
  appended: number;
}

interface Settling {
  /** The group whose buffer table holds the rows. */
  readonly holder: SqlClient;
  readonly primary: string;
  readonly pace: AppendPace;
}

/**
 * Settles buffered writes of one primary with a statement per node: a row may go when every node shows its body. What
 * the writer lacks is appended there; a reader that lags, or is down, just makes the row wait. A shard at fault stops
 * no other one.
 *
 * @throws SqlError when the primary could not be asked
 */
export async function settlePrimary(
  context: StoreContext,
  settling: Settling,
  shards: readonly ShardRows[],
): Promise<Settled> {
  const settled: Settled = {
    drained: [],
    conflicts: [],
    erased: [],
    faulty: [],
    refused: [],
    failed: new Map(),
    appended: 0,
  };
  const client = await context.groups.client(settling.primary);
  const answers = await askNodes(client, shards);
  let start = 0;
  const unsettled: { readonly shard: ShardRows; readonly rows: UnsettledRows }[] = [];
  for (const [position, shard] of shards.entries()) {
    const refusal = answers.writer.refused.get(position);
    if (refusal) settled.failed.set(shard, refusal);
    else {
      const rows = sortRows(shard, answers, start, settled);
      if (rows.missing.length > 0 || rows.different.length > 0) unsettled.push({ shard, rows });
    }
    start += shard.rows.length;
  }
  await sideBySide(
    unsettled,
    async ({ shard, rows }) => {
      try {
        await settleRows(context, { ...settling, client, answers, settled }, rows);
      } catch (error) {
        if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
        settled.failed.set(shard, error);
      }
    },
    SHARDS_AT_ONCE,
  );
  return settled;
}

/** Shards whose bodies are fetched side by side: a page of them, of a few MiB, is in memory of each. */
const SHARDS_AT_ONCE = 16;

/** Rows whose bodies are needed. */
interface UnsettledRows {
  readonly missing: readonly WaitingRow[];
  readonly different: readonly WaitingRow[];
}

/**
 * What the nodes' answers alone decide of a shard's rows.
 *
 * @param from place of its first row among all that were asked for
 */
function sortRows({ rows }: ShardRows, answers: NodeAnswers, from: number, settled: Settled): UnsettledRows {
  const [missing, different]: [WaitingRow[], WaitingRow[]] = [[], []];
  for (const [position, row] of rows.entries()) {
    const words = (answers.nodes ?? []).map(({ writable, shown }) => ({
      writable,
      shown: shown[from + position] ?? 'silent',
    }));
    // Rows that only wait for readers, as all do while one is down, are not fetched anew each time.
    const action = decideCopy(answers.writer.shown[from + position] ?? 'silent', words);
    if (action === 'drain') settled.drained.push(row);
    else if (action === 'append') missing.push(row);
    else if (action === 'compare') different.push(row);
  }
  return { missing, different };
}

interface ShardSettling extends Settling {
  readonly client: SqlClient;
  readonly answers: NodeAnswers;
  readonly settled: Settled;
}

async function settleRows(
  context: StoreContext,
  { client, holder, answers, pace, settled }: ShardSettling,
  { missing, different }: UnsettledRows,
): Promise<void> {
  for await (const page of openRows(holder, different)) {
    settled.faulty.push(...page.faulty);
    for (const some of inSmallParts(page.rows)) {
      for (const [position, action] of (await compareRows(client, some, answers)).entries()) {
        const row = some[position] as OpenRow;
        if (action === 'drain') settled.drained.push(row);
        else if (action === 'conflict') settled.conflicts.push(row);
        else if (action === 'forget') settled.erased.push(row);
      }
    }
  }

  const { conflicts, erased } = settled;
  const done: AppendedRows = { taken: 0, appended: 0, conflicts, erased, refused: [] };
  try {
    for await (const page of openRows(holder, missing)) {
      settled.faulty.push(...page.faulty);
      await pace.turn(page.rows.length);
      const begun = performance.now();
      await appendRows(context, page.rows, done);
      pace.took(performance.now() - begun);
      if (refusesAll(done)) break;
    }
  } finally {
    settled.appended += done.appended;
    settled.refused.push(...done.refused);
  }
  const [first] = done.refused;
  // Nothing was taken: in the order of the buffer, it is tried again from the same row on.
  if (first && done.taken === 0) throw first.error;
}

function* inSmallParts(rows: readonly OpenRow[]): Generator<readonly OpenRow[]> {
  for (let start = 0; start < rows.length; start += COMPARED_ROWS) yield rows.slice(start, start + COMPARED_ROWS);
}
