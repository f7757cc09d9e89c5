import { setTimeout as sleep } from 'node:timers/promises';
import { markTransaction } from '../body/transaction-mark.ts';
import type { Cell, FailedCondition, NewCell, PutResult, TransactionResult } from '../cell.ts';
import type { Datastore } from '../contract/datastore.ts';
import { homeOf, requireDatastore, sharesStorage } from '../access/groups.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import type { ShardFence } from '../sql/statements/append-cells.ts';
import type { BufferedCell, PlacedCell } from '../sql/encoded-cell.ts';
import { bodyHashParts, toBodyHashes } from '../sql/statements/select-body-hashes.ts';
import { selectShard, toShardRow } from '../sql/statements/select-shard.ts';
import { unionOf } from '../sql/union.ts';
import { POLL_PAUSE_MS, POLLS } from './append.ts';
import { sameBody } from './append-result.ts';
import { readBatch } from './read-batch.ts';
import { appendWhole } from './append-transaction.ts';
import { lookUpMet } from './erasure-checks.ts';
import { bufferOnSecondaries, withdrawCopies, withNewWriter } from './hints.ts';
import { parseTransaction } from '../api/parse-transaction.ts';
import { admitToGroup, isStored, unavailable, type WriteContext, type Writes } from './write-to-group.ts';
import { checkBounds } from './check-bounds.ts';

/** The writes of transactions: as cells of a batch, but hinted and appended all or none. */
export function transactions(
  writes: Writes,
  prepare: (cell: NewCell, prefix: string) => PlacedCell,
): Datastore['transact'] {
  const { datastore } = writes;
  return async (given) => {
    const { cells, conditions } = parseTransaction(given, prepare);
    const [{ shard }] = cells as readonly [PlacedCell];
    const topology = await requireDatastore(writes.topology, datastore);
    const { group } = homeOf(topology, shard);
    const isConditional = conditions.length > 0;
    const marked = withNewWriter(markTransaction(cells, isConditional));
    checkBounds(marked, await writes.groups.client(group), (position) => `cells[${position}].body`);
    let failed: readonly FailedCondition[] | undefined;
    const context: WriteContext = {
      ...writes,
      homes: topology.homes,
      // A hint of a transaction whose condition fails could be appended by a drain.
      ...(isConditional && { bufferCopies: 0 }),
      append: async (at, name, of, _marked, options) => {
        const done = await appendWhole(at, { datastore: name, shard: of, cells }, { ...options, conditions });
        failed = done.failed;
        return done;
      },
    };
    let results = await admitToGroup(context, group, marked);
    if (isConditional && results.every(isStored)) results = await withHintsAfter(writes, marked, results);
    if (!failed) return resultOf(cells, results);
    return { outcome: 'condition_failed', shard, failed: await withBodies(writes, topology.homes.length, failed) };
  };
}

/** Reads the latest cells as any read does: within the room of an answer, and without those that a retention hides. */
async function withBodies(
  writes: Writes,
  shards: number,
  failed: readonly FailedCondition[],
): Promise<readonly FailedCondition[]> {
  const found = failed.flatMap(({ latest }) => latest ?? []);
  const keys = found.map(({ row_key, column_name, ref_key }) => ({ row_key, column_name, ref_key }));
  const items = found.length === 0 ? [] : await readBatch(writes, writes.datastore, shards, keys, {});
  return failed.map((one): FailedCondition => {
    const item = items[found.indexOf(one.latest as Cell)];
    if (!item || !one.latest) return one;
    if (!('row_key' in item)) return { ...one, latest: { ...one.latest, error: item.error } };
    const { served_by: _node, stale: _stale, ...latest } = item;
    return { ...one, latest };
  });
}

/**
 * Puts hints of a transaction with conditions, once it is appended. It is acknowledged only if the writer has it after that:
 * a replica promoted before without it was not told of the hints. A hint that it may not rely on is withdrawn.
 */
async function withHintsAfter(
  writes: Writes,
  cells: readonly BufferedCell[],
  results: readonly PutResult[],
): Promise<readonly PutResult[]> {
  const { datastore, bufferCopies, secondaries, topology, groups } = writes;
  const [{ shard }] = cells as readonly [BufferedCell];
  const { group, epoch, copy } = homeOf(await requireDatastore(topology, datastore), shard);
  const client = await groups.client(group);
  if (bufferCopies === 0 || !client.abilities.survivesDiskLoss || (await sharesStorage(topology, group)))
    return results;
  const hintHolders = await bufferOnSecondaries(secondaries, cells, bufferCopies, [group], copy ? [copy.group] : []);
  if (hintHolders.length === 0) return unavailable(cells, 'no other group could take a copy');
  try {
    if (await isShown(client, { datastore, shard, epoch }, cells)) return results;
    await withdrawCopies(writes, datastore, cells, hintHolders);
  } catch (error) {
    // The hints stay: it may be stored.
    if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
    writes.report({ kind: 'primary_failed', group, error });
  }
  return unavailable(cells, 'the primary changed, or did not show it');
}

/** Whether the shard's writer, which lacks nothing, shows these very cells. */
async function isShown(
  client: SqlClient,
  { datastore, shard, epoch }: ShardFence,
  cells: readonly BufferedCell[],
): Promise<boolean> {
  for (let poll = 1; poll <= POLLS; poll += 1) {
    const { found } = await lookUpMet(client, { datastore, shard, epoch }, cells);
    const isThere = (cell: BufferedCell, position: number): boolean => {
      const there = found[position];
      return there === 'erased' || (there !== undefined && sameBody(there, cell));
    };
    const role = toBodyHashes(await client.select(unionOf(bodyHashParts([])), 'writer'), []);
    const row = toShardRow(await client.select(selectShard(datastore, shard), 'writer'));
    const isWriter = role.writer !== undefined && row?.hasWriter === true && row.state === 'open';
    if (isWriter && row.epoch === epoch && cells.every(isThere)) return true;
    await sleep(POLL_PAUSE_MS * poll);
  }
  return false;
}

function resultOf(cells: readonly PlacedCell[], results: readonly PutResult[]): TransactionResult {
  const [first] = results as readonly [PutResult];
  const { shard } = first;
  if (results.every(isStored)) {
    const outcome = results.some((result) => result.outcome === 'stored') ? 'stored' : 'stored_before';
    return { outcome, shard, added_ids: results.map((result) => ('added_id' in result ? (result.added_id ?? 0) : 0)) };
  }
  for (const outcome of ['conflict', 'erased'] as const) {
    const refused = cells.filter((_, position) => isRefusedAs(results[position], outcome));
    if (refused.length > 0)
      return { outcome, shard, cells: refused.map(({ column_name, ref_key }) => ({ column_name, ref_key })) };
  }
  return first as TransactionResult;
}

/** A conflict without an added id is another cell's. */
function isRefusedAs(result: PutResult | undefined, outcome: 'conflict' | 'erased'): boolean {
  return (
    result?.outcome === outcome && (outcome === 'erased' || ('added_id' in result && result.added_id !== undefined))
  );
}
