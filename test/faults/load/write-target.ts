import type { StoreEvent } from '../../../shared/access/context.ts';
import type { PutResult } from '../../../shared/cell.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { storeOf } from '../../support/store-of.ts';
import { DATASTORE, openStore, type StoreAccess } from '../../support/store-access.ts';
import type { CellWriter } from './ask.ts';
import { openPlainTables, type PlainAccess } from './plain-tables.ts';

export type WriteTarget =
  | { readonly kind: 'store'; readonly access: StoreAccess }
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'plain'; readonly access: PlainAccess };

/** @param report called with the events of the store, if it is opened here */
export async function openTarget(target: WriteTarget, report: (event: StoreEvent) => void): Promise<CellWriter> {
  switch (target.kind) {
    case 'store': {
      const store = await openStore(target.access, { report });
      const { put, batchPut, transact, get } = store.datastore;
      return { put, batchPut, transact, get, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
    }
    case 'http':
      return overHttp(target.url);
    default:
      return openPlainTables(target.access);
  }
}

/** Returns the outcome of a write that was answered "later". */
export function unconfirmed(error: unknown): PutResult {
  if (error instanceof SchemalessError && error.retry === 'later')
    return { outcome: 'unavailable', shard: -1, reason: error.message };
  throw error;
}

/** Returns a client that asks once: retries are the load's own, and are counted. */
function overHttp(url: string): CellWriter {
  const { put, batchPut, transact } = storeOf(schemalessClient({ url, datastore: DATASTORE, attempts: 1 }));
  return {
    put: (cell) => put(cell).catch(unconfirmed),
    batchPut: (cells) => batchPut(cells).catch((error: unknown) => cells.map(() => unconfirmed(error))),
    transact,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
