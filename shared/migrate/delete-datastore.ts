import { setTimeout as sleep } from 'node:timers/promises';
import type { DeletedDatastore, DeleteOptions, DeletedContents } from '../contract/definition-operations.ts';
import { invalidField, SchemalessError } from '../errors.ts';
import type { DynamoTable } from '../dynamo/table.ts';

import { shardDatabase } from '../address.ts';
import { sideBySide } from '../side-by-side.ts';
import { toNumber, toText } from '../sql/cell-rows.ts';
import type { SqlClient, Statement } from '../sql/client.ts';
import { CONTROL, quoteName } from '../sql/names.ts';
import { dropFence, IS_FENCED_SINCE, IS_NO_OTHERS, raiseFence } from '../sql/statements/deletion-fence.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import { forgetAppliedDatastore, readAppliedDatastore } from '../topology/applied-definitions.ts';
import {
  beginTakingBack,
  decideDeleting,
  forgetDatastore,
  markDeleting,
  readDeletionMark,
  takeMarkBack,
  type DeletionMark,
} from '../topology/deletion-mark.ts';
import { dynamoTopology, readDatastore } from '../topology/dynamo-topology.ts';
import { writeFormer } from '../topology/former-datastores.ts';
import { forgetIndexes } from '../topology/index-catalogue.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { readTriggerItems } from '../topology/trigger-catalogue.ts';
import { partsOf, askAllParts } from '../access/ask-parts.ts';
import type { DefinitionParts } from './definition-parts.ts';
import { removeWholeTrigger, triggerContents } from './delete-trigger.ts';
import { checkConfirmed, stillDefined, wouldLose } from './deletion-refusals.ts';
import { deleteRows } from './delete-rows.ts';
import { forgetState } from './forget-state.ts';

type Clients = ReadonlyMap<string, SqlClient>;

/** Heads read with one statement. */
const A_PAGE = 64;

/**
 * Deletes a datastore for good. What holds something is refused before anything is done; then it is marked, from when on
 * everybody who looks finds none. What comes then may be cut off anywhere, and is finished by a repetition.
 *
 * 1. The mark, which is not decided yet. Without `force` a fence is raised on every group, so that no copy is answered
 *    `buffered` any more, the shards are closed, and it is counted once more what they hold: cells may have been
 *    acknowledged since. If so, all this is taken back.
 * 2. It is decided, and asked nothing any more.
 * 3. The fence, and the rows that open its shards: who still writes by what he knew finds them gone, looks again, and is told so.
 * 4. Its triggers with their queues, what was applied of it, copies of its writes on all groups, its databases.
 * 5. All that is kept of it in both tables of DynamoDB, but for its name and last epoch. The mark goes last.
 *
 * To be done under the lease of the migration.
 *
 * @throws SchemalessError `unknown_datastore`, `still_defined`, `would_lose`, `unavailable` where a group cannot be asked
 */
export async function deleteDatastore(
  parts: DefinitionParts,
  name: string,
  options: DeleteOptions,
): Promise<DeletedDatastore> {
  checkConfirmed(name, options);
  if (parts.deployed.datastores.some((one) => one.name === name))
    throw stillDefined('datastore', name, `${name}/datastore.yaml`);
  const topology = await readDatastore(parts.topologyTable, name);
  if (!topology) return forgetUnmade(parts, name, options);
  const groups = await dynamoTopology(parts.topologyTable).groupsNow();
  const clients: Clients = new Map(groups.map((group) => [group.name, parts.connect(group)]));
  try {
    const moving = topology.homes.flatMap(({ copy }, shard) => (copy ? [shard] : []));
    if (moving.length > 0)
      throw new SchemalessError(
        'move_refused',
        `datastore ${name}: shards ${moving.slice(0, 5).join(', ')} are being moved: complete or cancel that first`,
        { field: 'datastore', more: { shards: moving } },
      );
    let begun = await readDeletionMark(parts.topologyTable, name);
    if (begun?.isTakenBack) {
      await takeDeletionBack(parts.topologyTable, name, { clients, mark: begun });
      begun = undefined;
    }
    const isDecided = begun?.isJudging === false;
    const lost = isDecided ? null : await contentsOf(parts, topology, clients);
    // One that was marked, and not decided, is judged below, where it is taken back.
    if (lost && !begun && !options.force) checkEmpty(name, lost);
    const about = { datastore: name, shards: topology.shards, lost };
    if (options.dry_run) return { ...about, dry_run: true, done: false };
    const mark = begun ?? (await markDeleting(parts.topologyTable, name));
    if (mark.isJudging && !(await decide(parts, topology, { clients, mark }, options)))
      return { ...about, dry_run: false, done: false };
    return { ...about, dry_run: false, done: await removeAll(parts, topology, { clients, mark }) };
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()));
  }
}

/** One that was applied, and never came to be: its name, triggers and indexes may be written down all the same. */
async function forgetUnmade(
  parts: DefinitionParts,
  name: string,
  { dry_run: dryRun = false }: DeleteOptions,
): Promise<DeletedDatastore> {
  const applied = await readAppliedDatastore(parts.topologyTable, name);
  if (!applied) throw unknown(name);
  const about = { datastore: name, shards: applied.shards ?? 0, lost: null };
  if (dryRun) return { ...about, dry_run: true, done: false };
  if (!(await removeTriggers(parts, name))) return { ...about, dry_run: false, done: false };
  await forgetIndexes(parts.topologyTable, name);
  await forgetAppliedDatastore(parts.topologyTable, name);
  return { ...about, dry_run: false, done: true };
}

/** Those that are listed, and those that were applied and are not. Returns whether there was time for all. */
async function removeTriggers(parts: DefinitionParts, datastore: string): Promise<boolean> {
  const listed = (await readTriggerItems(parts.topologyTable)).filter((item) => item.datastore === datastore);
  const applied = await readAppliedDatastore(parts.topologyTable, datastore);
  const names = [...listed.map(({ trigger }) => trigger), ...(applied?.triggers ?? [])].map(
    ({ definition }) => definition.name,
  );
  for (const name of new Set(names)) {
    if (!parts.mayGoOn()) return false;
    await removeWholeTrigger(parts, datastore, name);
  }
  return true;
}

interface Deleting {
  readonly clients: Clients;
  readonly mark: DeletionMark;
}

/**
 * Decides that a datastore is deleted which is marked. Without `force` its shards are closed first, and it throws where
 * they hold something, or cannot be asked: then it is as it was. Returns whether there was time for it.
 */
async function decide(
  parts: DefinitionParts,
  topology: DatastoreTopology,
  { clients, mark }: Deleting,
  { force = false }: DeleteOptions,
): Promise<boolean> {
  const { datastore } = topology;
  const { topologyTable, mayGoOn } = parts;
  try {
    if (!force) {
      for (const client of clients.values()) {
        if (!mayGoOn()) return false;
        await client.change(raiseFence(datastore, mark.since));
        await client.change(closeShards(datastore, mark.since));
      }
      if (!(await isStillOurs(parts, datastore, { clients, mark }))) return false;
      // What was committed before its shard was closed may be hidden from a snapshot for a moment (MariaDB).
      await sleep(HIDDEN_MS);
      checkEmpty(datastore, await contentsOf(parts, topology, clients));
    }
  } catch (error) {
    await takeDeletionBack(topologyTable, datastore, { clients, mark });
    throw error;
  }
  if (!mayGoOn()) return false;
  await decideDeleting(topologyTable, datastore, mark);
  return true;
}

/** Longer than a commit is hidden, and than a writer that was refused goes by a topology of before. */
const HIDDEN_MS = 2000;

/**
 * Whether a deletion is still this one, after it raised its fence: one that was frozen raises it late, when another has
 * taken it back or finished it. Then what it closed is opened again.
 */
async function isStillOurs(
  { topologyTable }: DefinitionParts,
  datastore: string,
  deleting: Deleting,
): Promise<boolean> {
  const mark = await readDeletionMark(topologyTable, datastore);
  if (mark?.since === deleting.mark.since) return true;
  await openAgain(datastore, deleting);
  return false;
}

/** Lets a datastore be what it was, whose deletion was begun and not decided. */
export async function takeDeletionBack(
  topologyTable: DynamoTable,
  datastore: string,
  { clients, mark }: Deleting,
): Promise<void> {
  await beginTakingBack(topologyTable, datastore, mark);
  await openAgain(datastore, { clients, mark });
  await takeMarkBack(topologyTable, datastore, mark);
}

async function openAgain(datastore: string, { clients, mark }: Deleting): Promise<void> {
  for (const client of clients.values()) {
    await client.change(openShards(datastore, mark.since));
    await client.change(dropFence(datastore, mark.since));
  }
}

/** By the fence of this very deletion: one that was frozen, and goes on late, closes nothing that was made since. */
function closeShards(datastore: string, since: string): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET state = 'closed' WHERE datastore = ? AND state = 'open' AND ${IS_FENCED_SINCE}`,
    parameters: [datastore, datastore, since],
  };
}

function openShards(datastore: string, since: string): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET state = 'open' WHERE datastore = ? AND state = 'closed' AND ${IS_NO_OTHERS}`,
    parameters: [datastore, datastore, since],
  };
}

function removeShards(datastore: string, since: string): Statement {
  return {
    sql: `DELETE FROM ${CONTROL}.shard WHERE datastore = ? AND ${IS_FENCED_SINCE}`,
    parameters: [datastore, datastore, since],
  };
}

function checkEmpty(name: string, lost: DeletedContents): void {
  if (Object.values(lost).some((count) => count > 0)) throw wouldLose('datastore', name, lost);
}

async function contentsOf(
  parts: DefinitionParts,
  topology: DatastoreTopology,
  clients: Clients,
): Promise<DeletedContents> {
  const triggers = (await readTriggerItems(parts.topologyTable)).filter(
    ({ datastore, removed_at }) => datastore === topology.datastore && removed_at === undefined,
  );
  const [cells, buffered, ofTriggers] = await Promise.all([
    sumOf(clients, (group, client) => countCells(topology, group, client)),
    sumOf(clients, async (_, client) => {
      const sql = `SELECT COUNT(*) FROM ${CONTROL}.buffer WHERE datastore = ?`;
      const [[count] = []] = await client.select({ sql, parameters: [topology.datastore] }, 'writer');
      return toNumber(count);
    }),
    Promise.all(
      triggers.map(({ trigger }) =>
        triggerContents(parts, topology.datastore, { ...trigger, name: trigger.definition.name }),
      ),
    ),
  ]);
  const sum = (key: 'messages' | 'parked'): number => ofTriggers.reduce((all, one) => all + one[key], 0);
  return { cells, buffered, messages: sum('messages'), parked: sum('parked') };
}

async function sumOf(clients: Clients, count: (group: string, client: SqlClient) => Promise<number>): Promise<number> {
  const counts = await Promise.all([...clients].map(([group, client]) => count(group, client)));
  return counts.reduce((sum, one) => sum + one, 0);
}

/** Logs have no holes: their heads are their lengths. */
async function countCells(topology: DatastoreTopology, group: string, client: SqlClient): Promise<number> {
  let cells = 0;
  const shards = shardsOf(topology, group);
  for (let start = 0; start < shards.length; start += A_PAGE) {
    const heads = selectHeads(topology.datastore, shards.slice(start, start + A_PAGE));
    const { rows } = await askAllParts(client, group, 'writer', partsOf(heads));
    for (const head of toHeads(rows).values()) cells += head;
  }
  return cells;
}

function shardsOf({ homes }: DatastoreTopology, group: string): readonly number[] {
  return homes.flatMap((home, shard) => (home.group === group ? [shard] : []));
}

/** Returns whether all is gone. */
async function removeAll(
  parts: DefinitionParts,
  topology: DatastoreTopology,
  { clients, mark }: Deleting,
): Promise<boolean> {
  const { topologyTable, stateTable, mayGoOn } = parts;
  const { datastore } = topology;
  // Asked before each step: one that was frozen, as functions are, would remove what was made since.
  for (const client of clients.values()) {
    if (!mayGoOn()) return false;
    await client.change(raiseFence(datastore, mark.since));
  }
  if (!(await isStillOurs(parts, datastore, { clients, mark }))) return false;
  for (const client of clients.values()) {
    if (!mayGoOn()) return false;
    await client.change(removeShards(datastore, mark.since));
  }
  if (!(await removeTriggers(parts, datastore)) || !mayGoOn()) return false;
  await forgetAppliedDatastore(topologyTable, datastore);
  const ended = await Promise.all(
    [...clients].map(
      async ([, client]) =>
        (await deleteRows(client, datastore, mayGoOn, mark.since)) && (await dropDatabases(parts, topology, client)),
    ),
  );
  if (ended.includes(false)) return false;
  if (!mayGoOn() || !(await forgetState(stateTable, datastore, mayGoOn))) return false;
  if (!mayGoOn()) return false;
  await forgetIndexes(topologyTable, datastore);
  const { shards, homes } = (await readDatastore(topologyTable, datastore)) ?? topology;
  if (!mayGoOn()) return false;
  const epoch = Math.max(...homes.map((home) => home.epoch));
  await writeFormer(topologyTable, datastore, { at: new Date().toISOString(), shards, epoch });
  await forgetDatastore(topologyTable, datastore, mark);
  return true;
}

async function dropDatabases(
  { mayGoOn }: DefinitionParts,
  topology: DatastoreTopology,
  client: SqlClient,
): Promise<boolean> {
  // Also those that moved away, and left their database empty.
  const names = new Set(topology.homes.map((_, shard) => shardDatabase(topology.datastore, shard)));
  const rows = await client.select(
    { sql: 'SELECT schema_name FROM information_schema.schemata', parameters: [] },
    'writer',
  );
  const there = rows.map(([database]) => toText(database)).filter((database) => names.has(database));
  let isWhole = true;
  await sideBySide(there, async (database) => {
    // Before each: no statement that drops one can ask for the fence.
    isWhole &&= mayGoOn();
    if (!isWhole) return;
    await client.change({ sql: `DROP DATABASE IF EXISTS ${quoteName(database)}`, parameters: [] });
  });
  return isWhole;
}

function unknown(name: string): SchemalessError {
  const { message, details } = invalidField('datastore', 'the name of a datastore', name);
  return new SchemalessError('unknown_datastore', message, details);
}
