import { scanState } from '../../../shared/dynamo/table.ts';
import { createSecretKey, randomBytes } from 'node:crypto';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readState, updateState } from '../../../shared/dynamo/state-table.ts';
import { datastoreKeyring, itemOf, openItem, type DatastoreKeys } from '../../../shared/sealed/datastore-keys.ts';
import type { KeyStore } from '../../../shared/sealed/key-store.ts';
import { rotateKeys } from '../../../shared/sealed/rotate-keys.ts';
import { subjectItem, SubjectKeyring } from '../../../shared/sealed/subject-keyring.ts';
import { dynamoClient, newTable, startDynamo, type LocalDynamo } from '../../support/dynamo.ts';

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const FIELD = { field: 'mail', type: 'string', column_key: 'BASE' } as const;
let dynamo: LocalDynamo;
let secret: readonly Uint8Array[];
let store: KeyStore;

beforeAll(async () => void (dynamo = await startDynamo()));
afterAll(() => dynamo.stop());
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] });
  secret = [OLD];
  store = { table: await newTable(dynamoClient(dynamo.url)), root: async () => secret };
});
afterEach(() => {
  store.table.client.destroy();
  vi.useRealTimers();
});

interface Instance {
  readonly keys: DatastoreKeys;
  readonly subjects: SubjectKeyring;
  /** Whether it has keys of these subjects, which are made where there are none. */
  seals(...subjects: readonly string[]): Promise<readonly boolean[]>;
}

async function instance(): Promise<Instance> {
  const keys = await datastoreKeyring(store).made('trips');
  const subjects = new SubjectKeyring(store, keys);
  return {
    keys,
    subjects,
    async seals(...names) {
      const made = await subjects.made(new Set(names.map(keys.nameOf)));
      return names.map((name) => made.get(keys.nameOf(name))?.keys !== undefined);
    },
  };
}

async function sealingKeysOf({ subjects, keys }: Instance, ...names: readonly string[]): Promise<readonly unknown[]> {
  const known = await subjects.known(new Set(names.map(keys.nameOf)));
  return names.map((name) => known.get(keys.nameOf(name))?.keys?.sealing.export().toString('hex'));
}

const rotate = (during: () => Promise<unknown> = async () => undefined) =>
  rotateKeys({
    store,
    say: () => undefined,
    async pause(ms) {
      await during();
      vi.advanceTimersByTime(ms);
    },
  });

describe('a rotation of the keys', () => {
  it('takes nothing from functions that run, and leaves names, hashes and keys of subjects as they are', async () => {
    const [writing, reading] = [await instance(), await instance()];
    await writing.seals('ann', 'bob');
    const before = await sealingKeysOf(writing, 'ann', 'bob');
    secret = [NEW, OLD];
    await rotate(async () => {
      vi.advanceTimersByTime(10_000);
      expect(await sealingKeysOf(reading, 'ann', 'bob')).toEqual(before);
      // Wrapped by the former key, of which alone it knows.
      expect(await writing.seals('cleo')).toEqual([true]);
    });
    secret = [NEW];
    // By the current key, although it has met nothing that is wrapped by it.
    expect(await writing.seals('dan')).toEqual([true]);
    for (const one of [await instance(), reading, writing]) {
      expect(await sealingKeysOf(one, 'ann', 'bob')).toEqual(before);
      expect(await one.seals('cleo', 'dan')).toEqual([true, true]);
      expect([one.keys.nameOf('ann'), one.keys.hashOf(FIELD, 'a@b')]).toEqual([
        writing.keys.nameOf('ann'),
        writing.keys.hashOf(FIELD, 'a@b'),
      ]);
    }
  });

  it('leaves nothing that the former keys open', async () => {
    const first = await instance();
    await first.seals('ann', 'bob');
    const item = (await readState(store.table, itemOf('trips'))) ?? {};
    const [former] = openItem('trips', item, [createSecretKey(OLD)]).wrappings;
    secret = [NEW, OLD];
    await rotate(() => first.seals('cleo'));
    const now = (await readState(store.table, itemOf('trips'))) ?? {};
    expect(() => openItem('trips', now, [createSecretKey(OLD)])).toThrow('wrapped by another key');
    const { wrappings } = openItem('trips', now, [createSecretKey(NEW)]);
    expect([wrappings.length, wrappings.some((key) => former?.equals(key))]).toEqual([1, false]);
    expect(now).not.toHaveProperty('rotating');
    expect(await sealingKeysOf(await instance(), 'ann', 'bob', 'cleo')).not.toContain(undefined);
  });

  it('goes on where it was interrupted, with the key that it made', async () => {
    const first = await instance();
    await first.seals('ann', 'bob');
    const before = await sealingKeysOf(first, 'ann', 'bob');
    await expect(rotate(() => Promise.reject(new Error('killed')))).rejects.toThrow('killed');
    const half = (await readState(store.table, itemOf('trips')))?.['wrappings']?.L;
    expect(half).toHaveLength(2);
    await rotate(async () => expect((await readState(store.table, itemOf('trips')))?.['wrappings']?.L).toHaveLength(2));
    expect(await sealingKeysOf(await instance(), 'ann', 'bob')).toEqual(before);
  });

  it('brings back no subject that is forgotten at the same time', async () => {
    const first = await instance();
    await first.seals('ann');
    const pk = subjectItem('trips', first.keys.nameOf('ann'));
    const forget = { key: pk, update: 'SET #forgotten = :record REMOVE #key', values: { ':record': { S: '{}' } } };
    const { client } = store.table;
    const send = client.send.bind(client);
    // Once its key was read, and before it is written.
    vi.spyOn(client, 'send').mockImplementation(async (command: unknown) => {
      const isRewrap = command instanceof UpdateItemCommand && command.input.UpdateExpression === 'SET #key = :key';
      if (isRewrap) await updateState({ ...store.table, client: { send } as unknown as typeof client }, forget);
      return send(command as UpdateItemCommand);
    });
    await rotate();
    for await (const { items } of scanState(store.table, pk)) expect(items[0]).not.toHaveProperty('key');
  });
});
