import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { ConditionalCheckFailedException, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { rowKeyOf } from '../address.ts';
import type { FieldType } from '../definitions/definitions.ts';
import { readState } from '../dynamo/state-table.ts';
import { requireRoot, unwrap, wrap, type KeyStore } from './key-store.ts';
import { derivedKey, KEY_BYTES, NAME_BYTES } from './sealing.ts';

/** What the key of a datastore gives, one key for each purpose. */
export interface DatastoreKeys {
  readonly datastore: string;
  /** The name of a subject: nobody learns of it who the subject is. 32 hexadecimal digits. */
  nameOf(subject: string): string;
  /** The keyed hash of a value of an index's field, which is a UUID in form. Equal values of a field have equal ones. */
  hashOf(field: HashedField, value: string): string;
  wrap(what: string, key: Uint8Array): Buffer;
  /** Throws WrongKeyError. */
  unwrap(what: string, wrapped: Uint8Array): Buffer;
}

export interface HashedField {
  readonly field: string;
  readonly type: FieldType;
  readonly column_key: string;
}

/** Gives the keys of datastores, each read once by an instance. */
export interface DatastoreKeyring {
  /** Undefined where the datastore has none yet: nothing of it was ever sealed. */
  known(datastore: string): Promise<DatastoreKeys | undefined>;
  /** Made where there are none. */
  made(datastore: string): Promise<DatastoreKeys>;
}

export function datastoreKeyring(store: KeyStore): DatastoreKeyring {
  const kept = new Map<string, DatastoreKeys>();
  let root: Promise<KeyObject> | undefined;

  async function rootKey(): Promise<KeyObject> {
    root ??= requireRoot(store)().then((bytes) => createSecretKey(bytes));
    root.catch(() => (root = undefined));
    return root;
  }

  async function read(datastore: string): Promise<DatastoreKeys | undefined> {
    const key = (await readState(store.table, itemOf(datastore)))?.['key']?.B;
    if (!key) return undefined;
    const keys = keysOf(datastore, unwrap(await rootKey(), itemOf(datastore), key));
    kept.set(datastore, keys);
    return keys;
  }

  const known = async (datastore: string): Promise<DatastoreKeys | undefined> =>
    kept.get(datastore) ?? (await read(datastore));

  return {
    known,
    async made(datastore) {
      const before = await known(datastore);
      if (before) return before;
      const wrapped = wrap(await rootKey(), itemOf(datastore), randomBytes(KEY_BYTES));
      await putOnce(store, itemOf(datastore), wrapped);
      // Whoever came first has made it.
      const keys = await read(datastore);
      if (!keys) throw new Error(`${itemOf(datastore)}: gone as soon as it was written`);
      return keys;
    },
  };
}

/** Writes an item with a wrapped key, unless there is one: that stays. Returns whether it was written. */
export async function putOnce({ table: { client, table } }: KeyStore, pk: string, key: Uint8Array): Promise<boolean> {
  try {
    await client.send(
      new PutItemCommand({
        TableName: table,
        Item: { pk: { S: pk }, key: { B: key } },
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

const itemOf = (datastore: string): string => `datastore#${datastore}`;

function keysOf(datastore: string, key: Uint8Array): DatastoreKeys {
  const [wrapping, names, hashes] = [derivedKey(key, 'wrap'), derivedKey(key, 'name'), derivedKey(key, 'index')];
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
    wrap: (what, bytes) => wrap(wrapping, what, bytes),
    unwrap: (what, wrapped) => unwrap(wrapping, what, wrapped),
  };
}
