import type { DeletedDatastore, DeleteOptions, Holdings } from '../contract/definition-operations.ts';
import { invalidField, SchemalessError } from '../errors.ts';
import { shardDatabase } from '../shard.ts';
import { sideBySide } from '../side-by-side.ts';
import { toNumber } from '../sql/cell-rows.ts';
import type { SqlClient } from '../sql/client.ts';
import { CONTROL, quoteName } from '../sql/names.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import { forgetAppliedDatastore } from '../topology/applied-definitions.ts';
import {
  dynamoTopology,
  forgetDatastore,
  isBeingDeleted,
  markDeleting,
  readDatastore,
} from '../topology/dynamo-topology.ts';
import { forgetIndexes } from '../topology/index-catalogue.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { readTriggerItems } from '../topology/trigger-catalogue.ts';
import { partsOf, askAllParts } from '../access/ask-parts.ts';
import type { DefinitionParts } from './definition-parts.ts';
import { removeWholeTrigger, triggerHoldings } from './delete-trigger.ts';
import { checkConfirmed, stillDefined, wouldLose } from './deletion-refusals.ts';
import { forgetState } from './forget-state.ts';

type Clients = ReadonlyMap<string, SqlClient>;

/** Databases dropped, or heads read, before it is asked again whether there is time for more. */
const A_PAGE = 64;
/** Rows that one statement deletes. */
const ROWS = 1000;

/**
 * Deletes a datastore for good. First it is marked, from when on everybody who looks finds none; what comes then may be
 * cut off anywhere, and is finished by a repetition, which asks nothing any more. The mark goes last.
 *
 * 1. The mark; what was applied of it, so that no deployment makes it again.
 * 2. The rows that open its shards: who still writes by what he knew finds them gone, looks again, and is told so.
 * 3. Its triggers with their queues, copies of its writes on all groups, its databases.
 * 4. All that is kept of it in both tables of DynamoDB.
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
  if (!topology) throw unknown(name);
  const isBegun = await isBeingDeleted(parts.topologyTable, name);
  const groups = await dynamoTopology(parts.topologyTable).groupsNow();
  const clients: Clients = new Map(groups.map((group) => [group.name, parts.connect(group)]));
  try {
    const lost = isBegun ? null : await holdings(parts, topology, clients);
    const isEmpty = !lost || Object.values(lost).every((count) => count === 0);
    if (!isEmpty && !options.force) throw wouldLose('datastore', name, lost);
    const about = { datastore: name, shards: topology.shards, lost };
    if (options.dry_run) return { ...about, dry_run: true, done: false };
    return { ...about, dry_run: false, done: await removeAll(parts, topology, clients) };
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()));
  }
}

async function holdings(parts: DefinitionParts, topology: DatastoreTopology, clients: Clients): Promise<Holdings> {
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
    Promise.all(triggers.map(({ trigger }) => triggerHoldings(parts, topology.datastore, trigger))),
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

function shardsOf({ places }: DatastoreTopology, group: string): readonly number[] {
  return places.flatMap((place, shard) => (place.group === group ? [shard] : []));
}

/** Returns whether all is gone. */
async function removeAll(parts: DefinitionParts, topology: DatastoreTopology, clients: Clients): Promise<boolean> {
  const { topologyTable, stateTable } = parts;
  const { datastore } = topology;
  await markDeleting(topologyTable, datastore);
  await forgetAppliedDatastore(topologyTable, datastore);
  for (const client of clients.values())
    await client.change({ sql: `DELETE FROM ${CONTROL}.shard WHERE datastore = ?`, parameters: [datastore] });
  for (const item of await readTriggerItems(topologyTable))
    if (item.datastore === datastore) await removeWholeTrigger(parts, datastore, item.trigger.definition.name);
  const ended = await Promise.all(
    [...clients].map(
      async ([group, client]) =>
        (await deleteRows(parts, client, datastore)) && (await dropDatabases(parts, topology, group, client)),
    ),
  );
  if (ended.includes(false)) return false;
  await forgetState(stateTable, datastore);
  await forgetIndexes(topologyTable, datastore);
  await forgetDatastore(topologyTable, datastore);
  return true;
}

/** What the control database of a group has of it besides. */
async function deleteRows({ mayGoOn }: DefinitionParts, client: SqlClient, datastore: string): Promise<boolean> {
  for (const table of ['buffer', 'bell']) {
    for (let deleted = ROWS; deleted === ROWS;) {
      if (!mayGoOn()) return false;
      const sql = `DELETE FROM ${CONTROL}.${table} WHERE datastore = ? LIMIT ${ROWS}`;
      deleted = (await client.change({ sql, parameters: [datastore] })).affectedRows;
    }
  }
  return true;
}

async function dropDatabases(
  { mayGoOn }: DefinitionParts,
  topology: DatastoreTopology,
  group: string,
  client: SqlClient,
): Promise<boolean> {
  const shards = shardsOf(topology, group);
  for (let start = 0; start < shards.length; start += A_PAGE) {
    if (!mayGoOn()) return false;
    await sideBySide(shards.slice(start, start + A_PAGE), async (shard) => {
      const database = quoteName(shardDatabase(topology.datastore, shard));
      await client.change({ sql: `DROP DATABASE IF EXISTS ${database}`, parameters: [] });
    });
  }
  return true;
}

function unknown(name: string): SchemalessError {
  const { message, details } = invalidField('datastore', 'the name of a datastore', name);
  return new SchemalessError('unknown_datastore', message, details);
}
