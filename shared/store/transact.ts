import { setTimeout as sleep } from 'node:timers/promises';
import { markTransaction } from '../body/transaction-mark.ts';
import type { Cell, FailedCondition, PutResult, TransactionResult } from '../cell.ts';
import type { Datastore } from '../contract/datastore.ts';
import { homeOf, requireDatastore, sharesStorage } from '../access/groups.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import type { ShardFence } from '../sql/statements/append-cells.ts';
import type { BufferedCell, PlacedCell } from '../sql/encoded-cell.ts';
import { bodyHash } from '../sql/statements/insert-buffered.ts';
import { selectBodyHashes, toBodyHashes } from '../sql/statements/select-body-hashes.ts';
import { selectShard, toShardRow } from '../sql/statements/select-shard.ts';
import { POLL_PAUSE_MS, POLLS } from './append.ts';
import { sameBody } from './append-result.ts';
import { readBatch } from './read-batch.ts';
import { appendWhole } from './append-transaction.ts';
import { lookUpMet } from './erasure-checks.ts';
import { bufferOnSecondaries, withdrawCopies, withNewWriter } from './hints.ts';
import { parseTransaction, type CellToPrepare } from '../api/parse-transaction.ts';
import { admitToGroup, isStored, unavailable, type WriteContext, type Writes } from './write-to-group.ts';
import { checkBounds } from './check-bounds.ts';

/** Returns the write of a transaction: as that of a batch, but its cells are hinted and appended all or none. */
export function transactions(
  writes: Writes,
  prepare: (cell: CellToPrepare, prefix: string) => PlacedCell,
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
      // The drain could append a hint although a condition failed.
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
 * Puts hints of a transaction with conditions after its append. Acknowledges it only if the writer then still has it:
 * recovery of a replica promoted before did not see these hints. Withdraws hints of a transaction that is gone.
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

/** Returns whether the shard's writer shows these cells, and lacks none. */
async function isShown(client: SqlClient, fence: ShardFence, cells: readonly BufferedCell[]): Promise<boolean> {
  const { datastore, shard, epoch } = fence;
  const keys = cells.map((cell) => ({ ...cell, datastore }));
  for (let poll = 1; poll <= POLLS; poll += 1) {
    const [shown, row] = await Promise.all([
      client.select(selectBodyHashes(keys), 'writer').then((rows) => toBodyHashes(rows, [keys])),
      client.select(selectShard(datastore, shard), 'writer').then(toShardRow),
    ]);
    const isOwner = row?.hasWriter === true && row.state === 'open' && row.epoch === epoch;
    const hashes = shown.hashes[0] ?? [];
    if (isOwner && shown.writer !== undefined && !hashes.includes(undefined)) {
      const isSame = (cell: BufferedCell, position: number): boolean =>
        hashes[position] === null || bodyHash(cell.encoded).equals(hashes[position] ?? new Uint8Array());
      return cells.every(isSame) || haveEqualBodies(client, fence, cells);
    }
    await sleep(POLL_PAUSE_MS * poll);
  }
  return false;
}

/** Compares by value: a cell that was stored before has another mark, or none. */
async function haveEqualBodies(client: SqlClient, fence: ShardFence, cells: readonly BufferedCell[]): Promise<boolean> {
  const { found } = await lookUpMet(client, fence, cells);
  return cells.every((cell, position) => {
    const there = found[position];
    return there === 'erased' || (there !== undefined && sameBody(there, cell));
  });
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

/** Returns whether this cell was refused: a conflict without an added id is due to another cell. */
function isRefusedAs(result: PutResult | undefined, outcome: 'conflict' | 'erased'): boolean {
  return (
    result?.outcome === outcome && (outcome === 'erased' || ('added_id' in result && result.added_id !== undefined))
  );
}
