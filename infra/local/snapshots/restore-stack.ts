import { rmSync } from 'node:fs';
import { readTriggerItems } from '../../../shared/topology/trigger-catalogue.ts';
import { triggerStore } from '../../../shared/triggers/state/dynamo-trigger-store.ts';
import { startService } from '../emulators/start-service.ts';
import { elsewhere } from '../emulators/emulator.ts';
import { startShardGroups } from '../mysql/shard-groups.ts';
import { keptGroups } from '../mysql/groups-file.ts';
import { dynamoClient } from '../login/clients.ts';
import { dataFolder } from '../folder/data-folder.ts';
import { lockFolder } from '../folder/folder-lock.ts';
import { readSnapshot, type Snapshot, replaceItems } from './snapshot.ts';
import { recordRestoreTime, restoreGroup } from './restore-group.ts';

/** The size of the servers that replay logs. */
const SHARDS = 1024;

/**
 * Restores a stopped stack to a snapshot: every group and both tables. Queues are emptied, and each trigger resends
 * what was not consumed by then. At the next start the drain brings back what other groups' buffers hold.
 *
 * Throws an Error if the stack runs or a service is elsewhere, SchemalessError `invalid_field` for the name. If
 * interrupted, repeat it with the same snapshot.
 */
export async function restoreStack(data: string, name: string, log: (line: string) => void): Promise<void> {
  for (const service of ['SQS', 'DYNAMODB'] as const) {
    if (elsewhere(`AWS_ENDPOINT_URL_${service}`))
      throw new Error(`AWS_ENDPOINT_URL_${service}: wanted none, since external data cannot be restored from here`);
  }
  const folder = dataFolder(data);
  const snapshot = readSnapshot(folder, name);
  const lock = lockFolder(folder.root);
  try {
    await restoreGroups(data, snapshot, log);
    await restoreTables(folder.dynamodb, snapshot, log);
    rmSync(folder.sqs, { recursive: true, force: true });
    for (const { name: group } of keptGroups(data)) recordRestoreTime(folder, group);
    log('its queues are empty');
  } finally {
    lock.release();
  }
}

async function restoreGroups(data: string, snapshot: Snapshot, log: (line: string) => void): Promise<void> {
  const kept = keptGroups(data);
  // Checked before the first group changes.
  for (const { name, readers } of kept) {
    if (snapshot.groups[name] === undefined)
      throw new Error(`${name}: wanted a snapshot that has it, got one of ${Object.keys(snapshot.groups).join(', ')}`);
    if (readers === 0) throw new Error(`${name} has no reader: wanted one, to rebuild it from the writer's log`);
  }
  const groups = await startShardGroups({
    dataDir: data,
    engine: snapshot.engine,
    groups: kept,
    restartAfterSeconds: 0,
    shards: SHARDS,
    size: 'small',
    log,
  });
  try {
    await Promise.all(groups.groups.map(async ({ name }) => restoreGroup(groups, name, snapshot)));
  } finally {
    await groups.stop();
  }
}

async function restoreTables(
  folder: string,
  { tables, taken_at }: Snapshot,
  log: (line: string) => void,
): Promise<void> {
  const dynamodb = await startService('dynamodb', folder, () => undefined);
  try {
    using client = dynamoClient(dynamodb.url);
    for (const [table, items] of Object.entries(tables)) {
      await replaceItems(client, table, items);
      log(`${table}: ${items.length} items of ${taken_at}`);
    }
    const [topology = '', state = ''] = ['topology', 'state'].map((part) =>
      Object.keys(tables).find((table) => table.includes(part)),
    );
    for (const { datastore, trigger } of await readTriggerItems({ client, table: topology })) {
      const store = triggerStore({ client, table: state }, { datastore, trigger: trigger.definition.name });
      await store.wantResend({ why: `everything was restored to ${taken_at}`, seen: await store.status() });
    }
  } finally {
    await dynamodb.close();
  }
}
