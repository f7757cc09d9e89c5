import { afterAll, expect, it } from 'vitest';
import {
  DRAIN_ITEMS,
  MANAGE_ITEMS,
  MIGRATE_ITEMS,
  MOVE_ITEMS,
  REPAIR_ITEMS,
  TAIL_ITEMS,
  STATE_ITEMS,
} from '../../../../infra/constructs/granted-items.ts';
import { startService } from '../../../../infra/local/emulators/start-service.ts';
import { accessKeyOf } from '../../../../infra/local/iam/access-key.ts';
import { localArn } from '../../../../infra/local/arn.ts';
import { leases } from '../../../../shared/dynamo/lease.ts';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import { openFollower } from '../../../../shared/follow/follower-item.ts';
import { forgetFollower } from '../../../../shared/follow/rewind-follower.ts';
import { ERASURES_LEASE, MOVES_LEASE } from '../../../../shared/granted-names.ts';
import { buildName } from '../../../../shared/index/repair/build-follower.ts';
import { triggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import { triggerFollower, forgetTrigger } from '../../../../shared/triggers/state/trigger-items.ts';
import { triggerStatus } from '../../../../shared/triggers/state/trigger-status.ts';
import { readTailerCount } from '../../../../shared/triggers/send/tailer-count.ts';
import { dynamoAt, makeTable } from '../emulators/emulated-table.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());
const folder = parts.use(temporaryFolder());
const service = parts.adopt(await startService('dynamodb', folder.path), (one) => one.close());
const owner = parts.adopt(dynamoAt(service.url), (one) => one.destroy());
const table = await makeTable(owner);

const index = { name: 'city_index', hash: '0a1b2c3d' };
const build = { name: buildName(index), datastore: 'trips' };
const trigger = { name: triggerFollower('bill_rider'), datastore: 'trips' };
const lease = (name: string) => async (state: DynamoTable) => {
  const taken = await leases(state, 'me', 1000).take(name);
  if (taken) await leases(state, 'me', 1000).release(taken);
};

// Rare actions, which a run of the whole stack does not reach: their refusals would go unnoticed.
it.each<readonly [string, string, readonly string[], (state: DynamoTable) => Promise<unknown>]>([
  ['maintenance', 'begin a build', REPAIR_ITEMS, (state) => openFollower(state, build, 16)],
  ['maintenance', 'forget a build', REPAIR_ITEMS, (state) => forgetFollower(state, build)],
  ['maintenance', 'keep migrations out', REPAIR_ITEMS, lease('migrate')],
  ['maintenance', 'look after a datastore alone', REPAIR_ITEMS, lease('repair/trips')],
  ['maintenance', 'finish erasures alone', REPAIR_ITEMS, lease(ERASURES_LEASE)],
  ['drain-buffer', 'drain a group alone', DRAIN_ITEMS, lease('drain/group-1')],
  ['move-shards', 'move shards alone', MOVE_ITEMS, lease(MOVES_LEASE)],
  ['move-shards', 'keep migrations out', MOVE_ITEMS, lease('migrate')],
  ['tail-shards', 'begin a trigger', TAIL_ITEMS, (state) => openFollower(state, trigger, 16)],
  ['tail-shards', 'read how many it is of', TAIL_ITEMS, readTailerCount],
  [
    'manage-triggers',
    'forget a trigger',
    MANAGE_ITEMS,
    (state) => forgetTrigger(state, { datastore: 'trips', trigger: 'a' }),
  ],
  ['isComplete', 'migrate alone', MIGRATE_ITEMS, lease('migrate')],
  ['isComplete', 'forget where a trigger was', MIGRATE_ITEMS, (state) => forgetFollower(state, trigger)],
  [
    'isComplete',
    'have what an old queue held sent again',
    MIGRATE_ITEMS,
    (state) =>
      triggerStatus(state, { datastore: 'trips', trigger: 'a' }).wantResend({ why: 'tried', seen: {}, queueUrl: 'a' }),
  ],
  [
    'define-datastores',
    'forget a trigger',
    MIGRATE_ITEMS,
    (state) => forgetTrigger(state, { datastore: 'trips', trigger: 'a' }),
  ],
  [
    'define-datastores',
    'see what is lost with a trigger',
    MIGRATE_ITEMS,
    async (state) => {
      const store = triggerStore(state, { datastore: 'trips', trigger: 'a' });
      await Promise.all([store.status(), store.shards([0]), store.malformed()]);
    },
  ],
])('%s may %s, by its items', async (name, _what, keys, act) => {
  const statement = {
    Effect: 'Allow',
    Action: STATE_ITEMS,
    Resource: localArn('dynamodb', `table/${table}`),
    Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys } },
  };
  await service.setRights({ [accessKeyOf(name)]: { name, role: name, statements: [statement] } });
  const client = dynamoAt(service.url, accessKeyOf(name));
  try {
    await act({ client, table });
    // The same call without rights is refused, so it was judged.
    await service.setRights({ [accessKeyOf(name)]: { name, role: name, statements: [] } });
    await expect(act({ client, table })).rejects.toMatchObject({ name: 'AccessDeniedException' });
  } finally {
    client.destroy();
  }
});
