import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { rowKeyOf } from '../address.ts';
import type { IndexField } from '../definitions/definitions.ts';
import { putState, readState, type StateItem } from '../dynamo/state-table.ts';
import { ageOf, moment } from '../time.ts';
import { requireRoot, unwrap, wrap, WrongKeyError, type KeyStore } from './key-store.ts';
import { derivedKey, KEY_BYTES, NAME_BYTES } from './sealing.ts';

/** Keys derived from the key of a datastore, one for each purpose. */
export interface DatastoreKeys {
  readonly datastore: string;
  /** Returns the name of a subject, which does not reveal the subject: 32 hexadecimal digits. */
  nameOf(subject: string): string;
  /** Returns the keyed hash of a value of an index's field, as a UUID. Equal values of a field have equal hashes. */
  hashOf(field: IndexField, value: string): string;
  /** Wraps a key by the current key, as of at most a minute ago. */
  wrap(what: string, key: Uint8Array): Promise<Buffer>;
  /** Unwraps a key; reads newer keys if no known one opens it. Throws WrongKeyError. */
  unwrap(what: string, wrapped: Uint8Array): Promise<Buffer>;
}

/** How long an instance wraps subjects' keys before it checks for a rotation. */
export const WRAPPING_MS = 60_000;

/** Returns the keys of datastores; an instance reads each once. */
export interface DatastoreKeyring {
  /** Returns undefined if the datastore has none yet, since nothing of it was ever sealed. */
  known(datastore: string): Promise<DatastoreKeys | undefined>;
  made(datastore: string): Promise<DatastoreKeys>;
}

export function datastoreKeyring(store: KeyStore): DatastoreKeyring {
  const kept = new Map<string, DatastoreKeys>();
  let root: Promise<readonly KeyObject[]> | undefined;

  async function rootKeys(): Promise<readonly KeyObject[]> {
    root ??= requireRoot(store)().then((keys) => keys.map((key) => createSecretKey(key)));
    root.catch(() => (root = undefined));
    return root;
  }

  /** Reads an item, and the secret again if no known root key opens it. */
  async function readItem(datastore: string): Promise<OpenedItem | undefined> {
    const item = await readState(store.table, itemOf(datastore));
    if (!item?.['key']) return undefined;
    try {
      return openItem(datastore, item, await rootKeys());
    } catch (error) {
      if (!(error instanceof WrongKeyError)) throw error;
      root = undefined;
      return openItem(datastore, item, await rootKeys());
    }
  }

  async function known(datastore: string): Promise<DatastoreKeys | undefined> {
    const before = kept.get(datastore);
    if (before) return before;
    const opened = await readItem(datastore);
    const keys = opened && keysOf(datastore, opened, () => readItem(datastore));
    if (keys) kept.set(datastore, keys);
    return keys;
  }

  return {
    known,
    async made(datastore) {
      const before = await known(datastore);
      if (before) return before;
      root = undefined;
      const [current] = await rootKeys();
      if (!current) throw new Error('no root key');
      await putOnce(store, itemOf(datastore), wrap(current, itemOf(datastore), randomBytes(KEY_BYTES)));
      // The first of concurrent callers created it.
      const keys = await known(datastore);
      if (!keys) throw new Error(`${itemOf(datastore)}: gone as soon as it was written`);
      return keys;
    },
  };
}

interface OpenedItem {
  readonly key: Buffer;
  /** Of 32 bytes each, the current one first. */
  readonly wrappings: readonly KeyObject[];
}

/** Throws WrongKeyError. */
export function openItem(datastore: string, item: StateItem, root: readonly KeyObject[]): OpenedItem {
  const open = (wrapped: Uint8Array = new Uint8Array()): Buffer => unwrap(root, itemOf(datastore), wrapped);
  const key = open(item['key']?.B);
  const wrappings = item['wrappings']?.L?.map(({ B }) => createSecretKey(open(B)));
  return { key, wrappings: wrappings ?? [derivedKey(key, 'wrap')] };
}

/** Writes an item with a wrapped key, unless one exists. Returns whether it was written. */
export function putOnce({ table }: KeyStore, pk: string, key: Uint8Array): Promise<boolean> {
  return putState(table, pk, { key: { B: key } }, 'attribute_not_exists(pk)');
}

export const itemOf = (datastore: string): string => `datastore#${datastore}`;

function keysOf(
  datastore: string,
  { key, wrappings }: OpenedItem,
  readAgain: () => Promise<OpenedItem | undefined>,
): DatastoreKeys {
  const [names, hashes] = [derivedKey(key, 'name'), derivedKey(key, 'index')];
  let [known, at] = [wrappings, moment()];
  const renew = async (): Promise<void> => {
    const asked = moment();
    [known, at] = [(await readAgain())?.wrappings ?? known, asked];
  };
  return {
    datastore,
    nameOf: (subject) =>
      createHmac('sha256', names)
        .update(subject)
        .digest('hex')
        .slice(0, 2 * NAME_BYTES),
    hashOf({ field, type, column_key }, value) {
      const text = JSON.stringify([column_key, field, type, value]);
      return rowKeyOf(createHmac('sha256', hashes).update(text).digest());
    },
    async wrap(what, bytes) {
      if (ageOf(at) >= WRAPPING_MS) await renew();
      return wrap(known[0] as KeyObject, what, bytes);
    },
    async unwrap(what, wrapped) {
      try {
        return unwrap(known, what, wrapped);
      } catch {
        await renew();
        return unwrap(known, what, wrapped);
      }
    },
  };
}
