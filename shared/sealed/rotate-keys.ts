import { scanState } from '../dynamo/table.ts';
import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { updateState, type StateItem } from '../dynamo/state-table.ts';
import { itemOf, openItem, WRAPPING_MS } from './datastore-keys.ts';
import { requireRoot, unwrap, wrap, type KeyStore } from './key-store.ts';
import { KEY_BYTES } from './sealing.ts';
import { subjectItem } from './subject-keyring.ts';

interface Rotation {
  readonly store: KeyStore;
  readonly pause: (ms: number) => Promise<unknown>;
  readonly say: (line: string) => void;
}

/** How long instances may wrap by the former key, including requests under way. */
const PAUSE_MS = 2 * WRAPPING_MS;

/**
 * Rewraps all keys while functions run: datastores' keys by the current root key, subjects' keys by a new key of their
 * datastore. The keys themselves and the cells stay. A second call continues an interrupted rotation.
 */
export async function rotateKeys(rotation: Rotation): Promise<void> {
  const { store, pause, say } = rotation;
  const root = (await requireRoot(store)()).map((key) => createSecretKey(key));
  await rewrap(rotation, root, 'begin');
  say(`waiting for ${PAUSE_MS / 1000} s, until no function uses a former key`);
  await pause(PAUSE_MS);
  await rewrap(rotation, root, 'end');
}

/** Rewraps all keys. `begin` adds a key to each datastore, unless a rotation has; `end` drops the former ones. */
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
        if (!changed) throw new Error(`${datastore}: its keys changed at the same time, as by another rotation: retry`);
        return changed;
      };
      // No key is used before it is stored, and none is dropped while it may wrap another.
      const kept = await keep(wrappings, step === 'begin' ? ', #rotating = :key' : '', item);
      say(`${datastore}: ${await rewrapSubjects(store, datastore, current, former)} keys rewrapped`);
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

/** Updates an item; returns undefined if its key has changed: a forgotten subject stays forgotten. */
function change({ table }: KeyStore, { pk, key }: StateItem, update: string, values: StateItem) {
  const expected = { condition: '#key = :before', values: { ...values, ':before': key ?? { NULL: true } } };
  return updateState(table, { key: pk?.S ?? '', update, ...expected });
}
