import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { ReceiptKey } from '../contract/subject-operations.ts';
import { readState } from '../dynamo/state-table.ts';
import { receiptKey, signReceipt, type Receipt } from '../client/receipts.ts';
import { putOnce, type DatastoreKeyring, type DatastoreKeys } from './datastore-keys.ts';
import { overKeys, type KeyStore } from './key-store.ts';

/** Signs records of a datastore, by a key pair that is made once, when the first one is to be signed. */
export interface ReceiptSigner {
  /** Throws `unavailable` where the keys cannot be reached, as `sign` does. */
  key(): Promise<ReceiptKey>;
  sign<R extends Receipt>(record: R): Promise<R>;
}

interface Pair {
  readonly privateKey: KeyObject;
  readonly shown: ReceiptKey;
}

export function receiptSigner(store: KeyStore, keyring: DatastoreKeyring, datastore: string): ReceiptSigner {
  let pair: Promise<Pair> | undefined;
  const item = `signing#${datastore}`;

  async function read(keys: DatastoreKeys): Promise<Pair | undefined> {
    const key = (await readState(store.table, item))?.['key']?.B;
    if (!key) return undefined;
    const privateKey = createPrivateKey({ key: keys.unwrap(item, key), type: 'pkcs8', format: 'der' });
    return { privateKey, shown: receiptKey(createPublicKey(privateKey)) };
  }

  async function made(): Promise<Pair> {
    const keys = await keyring.made(datastore);
    const before = await read(keys);
    if (before) return before;
    const { privateKey } = generateKeyPairSync('ed25519');
    await putOnce(store, item, keys.wrap(item, privateKey.export({ type: 'pkcs8', format: 'der' })));
    // Whoever came first has made it.
    const now = await read(keys);
    if (!now) throw new Error(`${item}: gone as soon as it was written`);
    return now;
  }

  /** Asked for once, by however many records of a page; again where that failed. */
  function known(): Promise<Pair> {
    if (pair) return pair;
    const asked = overKeys(made);
    pair = asked;
    asked.catch(() => (pair = undefined));
    return asked;
  }

  return {
    key: async () => (await known()).shown,
    async sign(record) {
      const { privateKey, shown } = await known();
      return signReceipt(record, privateKey, shown.key_id);
    },
  };
}
