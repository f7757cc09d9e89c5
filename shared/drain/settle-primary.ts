import { SchemalessError } from '../errors.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { sideBySide } from '../side-by-side.ts';
import { markShown } from '../sql/statements/change-buffered.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import type { StoreContext } from '../access/context.ts';
import type { AppendPace } from './append-pace.ts';
import { appendRows, refusesAll, type AppendedRows } from './append-rows.ts';
import { askNodes, type NodeAnswers, type ShardRows, COMPARED_ROWS, compareRows } from './ask-nodes.ts';
import { decideCopy } from './decide.ts';
import { openRows, type OpenRow } from './open-rows.ts';
import type { Settled } from './settled.ts';
import { requireWriter } from './require-writer.ts';
import { settleTransactions } from './settle-transactions.ts';
import { slicesOf } from '../slices-of.ts';

interface Settling {
  readonly hintHolder: SqlClient;
  readonly primary: string;
  readonly pace: AppendPace;
}

/** Deletes a primary's hints that every node shows, and appends the missing. Throws `SqlError` without the primary. */
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

/** Shards settled side by side, each with a page of a few MiB in memory. */
const SHARDS_AT_ONCE = 16;

interface UnsettledRows {
  readonly missing: readonly WaitingRow[];
  readonly different: readonly WaitingRow[];
}

/** Sorts a shard's rows, the first at place `from`, by what the nodes' answers decide. */
function sortRows({ rows }: ShardRows, answers: NodeAnswers, from: number, settled: Settled): UnsettledRows {
  const [missing, different]: [WaitingRow[], WaitingRow[]] = [[], []];
  for (const [position, row] of rows.entries()) {
    const words = (answers.nodes ?? []).map(({ writable, shown }) => ({
      writable,
      shown: shown[from + position] ?? 'silent',
    }));
    // Rows that wait for readers are not fetched each time.
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
  { client, hintHolder, answers, pace, settled }: ShardSettling,
  { missing, different }: UnsettledRows,
): Promise<void> {
  const { conflicts, erased } = settled;
  const done: AppendedRows = { taken: 0, appended: 0, conflicts, erased, refused: [] };
  const transactions = { client, hintHolder, answers, settled, done, names: new Set<string>() };
  for await (const page of openRows(hintHolder, different)) {
    settled.faulty.push(...page.faulty);
    for (const some of slicesOf(await settleTransactions(context, transactions, page.rows), COMPARED_ROWS)) {
      for (const [position, action] of (await compareRows(client, some, answers)).entries()) {
        const row = some[position] as OpenRow;
        if (action === 'drain') settled.drained.push(row);
        else if (action === 'conflict') settled.conflicts.push(row);
        else if (action === 'forget') settled.erased.push(row);
      }
    }
  }

  try {
    await requireWriter(client, missing);
    for await (const page of openRows(hintHolder, missing)) {
      settled.faulty.push(...page.faulty);
      await pace.turn(page.rows.length);
      const begun = performance.now();
      const rows = await settleTransactions(context, transactions, page.rows);
      if (rows.length > 0) await hintHolder.change(markShown(rows));
      await appendRows(context, rows, done);
      pace.took(performance.now() - begun);
      if (refusesAll(done)) break;
    }
  } finally {
    settled.appended += done.appended;
    settled.refused.push(...done.refused);
  }
  const [first] = done.refused;
  // Nothing was taken: it is tried again from this row.
  if (first && done.taken === 0) throw first.error;
}
