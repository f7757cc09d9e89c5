import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { scanState, updateState, type StateItem } from '../dynamo/state-table.ts';
import { itemOf, openItem, WRAPPING_MS } from './datastore-keys.ts';
import { requireRoot, unwrap, wrap, type KeyStore } from './key-store.ts';
import { KEY_BYTES } from './sealing.ts';
import { subjectItem } from './subject-keyring.ts';

interface Rotation {
  readonly store: KeyStore;
  readonly pause: (ms: number) => Promise<unknown>;
  readonly say: (line: string) => void;
}

/** Instances wrap by the former key for so long: a request that is under way included. */
const PAUSE_MS = 2 * WRAPPING_MS;

/**
 * Wraps all keys anew while functions run: those of datastores by the current root key, those of subjects by a new key of
 * their datastore. The keys themselves stay, and cells with them. One that was interrupted continues when called again.
 */
export async function rotateKeys(rotation: Rotation): Promise<void> {
  const { store, pause, say } = rotation;
  const root = (await requireRoot(store)()).map((key) => createSecretKey(key));
  await rewrap(rotation, root, 'begin');
  say(`waiting for ${PAUSE_MS / 1000} s, until no function uses a former key`);
  await pause(PAUSE_MS);
  await rewrap(rotation, root, 'end');
}

/** `begin` makes a new key for each datastore, unless a rotation has made one; `end` drops those before it. */
async function rewrap({ store, say }: Rotation, root: readonly KeyObject[], step: 'begin' | 'end'): Promise<void> {
  for await (const { items } of scanState(store.table, itemOf(''), { having: 'key' }))
    for (const item of items) {
      const datastore = (item['pk']?.S ?? '').slice(itemOf('').length);
      const { key, wrappings: known } = openItem(datastore, item, root);
      const isNew = step === 'begin' && item['rotating'] === undefined;
      const wrappings = isNew ? [createSecretKey(randomBytes(KEY_BYTES)), ...known] : known;
      const [current, ...former] = wrappings as [KeyObject, ...KeyObject[]];
      const byRoot = (one: Uint8Array) => ({ B: wrap(root[0] as KeyObject, itemOf(datastore), one) });
      const keep = async (kept: readonly KeyObject[], update: string, before: StateItem): Promise<StateItem> => {
        const values = { ':key': byRoot(key), ':wrappings': { L: kept.map((one) => byRoot(one.export())) } };
        const changed = await change(store, before, `SET #key = :key, #wrappings = :wrappings${update}`, values);
        if (!changed)
          throw new Error(`${datastore}: its keys were changed meanwhile, as by another rotation: repeat it`);
        return changed;
      };
      // No key is used before it is kept, and none is dropped while something may be wrapped by it.
      const kept = await keep(wrappings, step === 'begin' ? ', #rotating = :key' : '', item);
      say(`${datastore}: ${await rewrapSubjects(store, datastore, current, former)} keys wrapped anew`);
      if (step === 'end') await keep([current], ' REMOVE #rotating', kept);
    }
}

async function rewrapSubjects(
  store: KeyStore,
  datastore: string,
  current: KeyObject,
  former: readonly KeyObject[],
): Promise<number> {
  let count = 0;
  for await (const { items } of scanState(store.table, subjectItem(datastore, ''), { having: 'key' }))
    for (const item of items) {
      const [pk, wrapped] = [item['pk']?.S ?? '', item['key']?.B ?? new Uint8Array()];
      if (isOpenedBy(current, pk, wrapped)) continue;
      const key = { B: wrap(current, pk, unwrap(former, pk, wrapped)) };
      count += Number((await change(store, item, 'SET #key = :key', { ':key': key })) !== undefined);
    }
  return count;
}

function isOpenedBy(key: KeyObject, pk: string, wrapped: Uint8Array): boolean {
  try {
    return unwrap([key], pk, wrapped).length > 0;
  } catch {
    return false;
  }
}

/** Undefined where the key is another by now: a subject that was forgotten stays so. */
function change({ table }: KeyStore, { pk, key }: StateItem, update: string, values: StateItem) {
  const expected = { condition: '#key = :before', values: { ...values, ':before': key ?? { NULL: true } } };
  return updateState(table, { key: pk?.S ?? '', update, ...expected });
}
