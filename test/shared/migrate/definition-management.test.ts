import { describe, expect, it } from 'vitest';
import type { Definitions } from '../../../shared/definitions/definitions.ts';
import type { DefinitionManagement } from '../../../shared/migrate/definition-management.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { writeDeployed } from '../../../shared/topology/defined.ts';
import { sqsQueues } from '../../../shared/triggers/state/queues.ts';
import { triggerStore } from '../../../shared/triggers/state/dynamo-trigger-store.ts';
import { watchedClient } from '../../support/connection-to.ts';
import { cellOf, errorOf } from '../../support/datastore-conformance.ts';
import { indexOn } from '../../support/index-on.ts';
import { PATIENT } from '../../support/store-access.ts';
import {
  applied,
  databasesOn,
  defined,
  deploy,
  groups,
  indexStates,
  instance,
  keysOf,
  manageWith,
  ownTrigger,
  queueNames,
  SEND,
  sendMessage,
  shop,
  sqs,
  triggersNow,
  desired,
  useShop,
} from './support/shop.ts';

useShop();

const BY_BUYER = indexOn('by_buyer', { buyer: 'UUID', total: 'number' });
const SHARDS = 6;
const manage = (): DefinitionManagement => manageWith(0);
/** With an index and a trigger. */
const whole = (more: Parameters<typeof defined>[1] = {}) =>
  defined(SHARDS, { indexes: [BY_BUYER], triggers: [SEND], ...more });
const applyWhole = () => manage().apply(whole(), false);

/** The same where a deployment defines something, whether it has made it yet or not. */
async function manageInParallel(deployed: Definitions): Promise<DefinitionManagement> {
  await writeDeployed(shop.topologyTable, deployed);
  return manage();
}

const buyer = '5d2c8a17-9e4b-4f36-a1d8-7c0e6b3f2a94';
const put = async (deployment: Deployment, body = { buyer, total: 1 }) =>
  (await deployment.datastore(shop.name)).put(cellOf({ body }));
const trigger = () => triggerStore(shop.stateTable, { datastore: shop.name, trigger: 'send' });

const databases = async (): Promise<number> =>
  (await Promise.all(groups.map((group) => databasesOn(group, shop.name)))).flat().length;

/** Returns the keys of both tables that mention the datastore. */
async function left(): Promise<readonly string[]> {
  const keys = await Promise.all([shop.topologyTable, shop.stateTable].map(keysOf));
  return keys
    .flat()
    .filter((key) => key.includes(shop.name))
    .sort();
}

describe('applied definitions', () => {
  it('make a datastore that running instances write to, read and query at once', async () => {
    const running = instance(0);
    expect(await errorOf(() => running.datastore(shop.name))).toMatchObject({ code: 'unknown_datastore' });
    const outcome = await applyWhole();
    expect(outcome).toEqual({
      done: true,
      dry_run: false,
      changes: [
        { kind: 'datastore', datastore: shop.name, name: shop.name, change: 'create', shards: SHARDS },
        { kind: 'index', datastore: shop.name, name: 'by_buyer', change: 'create' },
        { kind: 'trigger', datastore: shop.name, name: 'send', change: 'create' },
      ],
    });
    const other = instance(0);
    expect(await put(other)).toMatchObject({ outcome: 'stored' });
    const reading = await other.datastore(shop.name);
    const { entries } = await reading.query({ index: 'by_buyer', where: { buyer } });
    expect(entries).toHaveLength(1);
    const [made] = await triggersNow();
    expect(made?.definition).toEqual(SEND);
    await sendMessage(made?.queueUrl);
    expect(await sqsQueues(sqs.client).depth(made?.queueUrl ?? '')).toBe(1);
  });

  it('are refused for now while the table of leases does not answer', async () => {
    const management = manageWith(0, { stateTable: { ...shop.stateTable, table: 'gone' } });
    const error = await errorOf(() => management.apply({ datastores: [] }, false));
    expect(error).toMatchObject({ code: 'unavailable', retry: 'later' });
  });

  it('can be repeated, and say then that nothing is to be done', async () => {
    await applyWhole();
    const { changes } = await applyWhole();
    expect(new Set(changes.map(({ change }) => change))).toEqual(new Set(['none']));
    expect(await queueNames()).toHaveLength(2);
  });

  it('of a dry run change nothing', async () => {
    const before = await left();
    const { changes, done } = await manage().apply(whole(), true);
    expect([done, changes.map(({ change }) => change)]).toEqual([false, ['create', 'create', 'create']]);
    expect([await left(), await databases(), await queueNames()]).toEqual([before, 0, []]);
  });

  it('add to what is there, and leave what they do not name', async () => {
    await applyWhole();
    const byTotal = { ...BY_BUYER, name: 'by_total' };
    const changed = { ...SEND, maxAttempts: 7, timeoutSeconds: 60 };
    const { changes } = await manage().apply(whole({ indexes: [byTotal], triggers: [changed] }), false);
    expect(changes.map(({ name: of, change }) => [of, change])).toEqual([
      [shop.name, 'none'],
      ['by_total', 'create'],
      ['send', 'change'],
    ]);
    expect(await indexStates()).toEqual([
      ['by_buyer', 'live'],
      ['by_total', 'building'],
    ]);
    expect((await triggersNow()).map(({ definition }) => definition)).toEqual([changed]);
  });

  it('that cannot be had are refused with all reasons, and nothing is changed', async () => {
    await applyWhole();
    const before = await left();
    const other = whole({
      shards: SHARDS + 1,
      indexes: [
        { ...BY_BUYER, fields: [{ field: 'buyer', type: 'string', column_key: 'BASE' }] },
        { ...BY_BUYER, name: 'fine' },
      ],
      triggers: [
        { ...SEND, start: 'now' },
        { ...SEND, name: 'call', function: 'functions/call.ts' },
      ],
    });
    for (const dryRun of [true, false]) {
      const error = await errorOf(() => manage().apply(other, dryRun));
      expect(error).toMatchObject({ code: 'fixed_definition', status: 409, retry: 'never' });
      const problems = error.details.more?.['problems'] as readonly Record<string, string>[];
      expect(problems.map((problem) => [problem['kind'], problem['field'], problem['wanted'], problem['got']])).toEqual(
        [
          ['datastore', 'shards', String(SHARDS), String(SHARDS + 1)],
          ['index', 'buyer.type', 'UUID', 'string'],
          ['trigger', 'start', 'start', 'now'],
          ['trigger', 'function', 'nothing', 'functions/call.ts'],
        ],
      );
    }
    expect(await left()).toEqual(before);
  });

  it('of what the deployment defines are its own to change', async () => {
    const deployed = whole({ triggers: [] });
    await deploy([desired(SHARDS, { indexes: [BY_BUYER] })]);
    const same = await (await manageInParallel(deployed)).apply(deployed, false);
    expect(same.changes.map(({ change }) => change)).toEqual(['none', 'none']);
    const other = whole({ indexes: [{ ...BY_BUYER, keys: [['buyer', 'total']] }], triggers: [] });
    expect(await errorOf(() => manage().apply(other, false))).toMatchObject({
      code: 'fixed_definition',
      field: 'keys',
    });
    expect((await applyWhole()).done).toBe(true);
    expect(await triggersNow()).toHaveLength(1);
  });

  it('outlive deployments that know nothing of them, until those define them', async () => {
    await applyWhole();
    expect(await deploy([desired(1, { name: `${shop.name}_other` })])).toBe(true);
    expect(await triggersNow()).toHaveLength(1);
    expect(await put(instance(0))).toMatchObject({ outcome: 'stored' });
    await deploy([desired(SHARDS)]);
    expect(await triggersNow()).toHaveLength(1);
    expect(await indexStates()).toEqual([['by_buyer', 'live']]);
    expect((await applied()).length).toBe(3);
    const defining = desired(SHARDS, { indexes: [BY_BUYER], triggers: [ownTrigger()] });
    // The same one may be done again and again; the next that defines them, too, is not to be taken back any more.
    for (let round = 0; round < 2; round += 1) {
      await deploy([defining]);
      expect(await triggersNow()).toEqual([ownTrigger()]);
      expect((await applied()).length).toBe(2);
    }
    await deploy([defining, desired(1, { name: `${shop.name}_other` })]);
    expect(await applied()).toEqual([]);
    expect(await triggersNow()).toEqual([ownTrigger()]);
  });

  it('outlive a deployment that defines them and is rolled back', async () => {
    const before = desired(SHARDS);
    await deploy([before]);
    await applyWhole();
    const made = await triggersNow();
    await deploy([{ ...before, indexes: [BY_BUYER], triggers: [ownTrigger()] }]);
    await deploy([before]);
    expect(await triggersNow()).toEqual(made);
    expect(await indexStates()).toEqual([['by_buyer', 'building']]);
    await deploy([before]);
    expect(await triggersNow()).toEqual(made);
  });

  it('cut off are finished by a repetition', async () => {
    // After so many statements, which is in the middle of users, databases and tables.
    const ends: string[] = [];
    for (const most of [3, 8, 14, 20])
      ends.push(
        await dying(most)
          .apply(whole(), false)
          .then(
            () => 'done',
            (error: Error) => error.message,
          ),
      );
    // The groups are made side by side: where one was much quicker, the last finds less to do.
    expect(ends).toEqual(['died', 'died', expect.toBeOneOf(['died', 'done']), expect.toBeOneOf(['died', 'done'])]);
    expect((await applyWhole()).done).toBe(true);
    expect([await databases(), (await queueNames()).length]).toEqual([SHARDS, 2]);
    expect(await put(instance(0))).toMatchObject({ outcome: 'stored' });
  });
});

describe('deleting', () => {
  it('an index retires it', async () => {
    await applyWhole();
    expect(await errorOf(() => manage().deleteIndex(shop.name, 'by_none', { confirm: 'by_none' }))).toMatchObject({
      code: 'unknown_index',
    });
    expect(
      await errorOf(async () =>
        (await manageInParallel(whole())).deleteIndex(shop.name, 'by_buyer', { confirm: 'by_buyer' }),
      ),
    ).toMatchObject({
      code: 'still_defined',
      details: { got: expect.stringContaining(`${shop.name}/indexes/by_buyer.yaml`) },
    });
    expect(await errorOf(() => manage().deleteIndex(shop.name, 'by_buyer', { confirm: 'by' }))).toMatchObject({
      code: 'invalid_field',
      field: 'confirm',
    });
    await writeDeployed(shop.topologyTable, { datastores: [] });
    await manage().deleteIndex(shop.name, 'by_buyer', { confirm: 'by_buyer' });
    expect(await indexStates()).toEqual([['by_buyer', 'retired']]);
    await deploy();
    expect(await left()).not.toContain(`applied#${shop.name}#index#by_buyer`);
  });

  it('a trigger with waiting messages or parked cells wants force', async () => {
    await applyWhole();
    const [made] = await triggersNow();
    await trigger().parkMalformed({ message_id: 'm', body: '{', error: 'no JSON' });
    await sendMessage(made?.queueUrl);
    const remove = (more: object = {}) => manage().deleteTrigger(shop.name, 'send', { confirm: 'send', ...more });
    expect(await errorOf(() => remove())).toMatchObject({
      code: 'would_discard_data',
      details: { more: { lost: { messages: 1, parked: 1 } } },
    });
    expect(await queueNames()).toHaveLength(2);
    expect(await remove({ force: true })).toMatchObject({ lost: { messages: 1, parked: 1 } });
    expect([await triggersNow(), await queueNames()]).toEqual([[], []]);
    expect((await left()).filter((key) => key.includes('#send'))).toEqual([`trigger#${shop.name}#send`]);
    // A recreated trigger starts without state.
    await applyWhole();
    expect(await trigger().malformed()).toEqual([]);
  });
});

/** Manages as ever, and loses its databases after so many statements that change something. */
function dying(most: number): DefinitionManagement {
  let changes = 0;
  const die = (): void => {
    changes += 1;
    if (changes > most) throw new Error('died');
  };
  return manageWith(0, { connect: (group) => watchedClient(group, die, PATIENT) });
}
