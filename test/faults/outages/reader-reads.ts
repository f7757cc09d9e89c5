import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell, Role } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { equalJson } from '../../../shared/body/equal.ts';
import { Random } from '../../support/random.ts';
import { openStore, type OpenStore, type StoreAccess } from '../../support/store-access.ts';
import { baseCell, rowKeyIn } from '../row-keys.ts';

export interface ReaderRead {
  readonly sentAt: number;
  /** The role that answered; undefined without an answer. */
  readonly servedBy: Role | undefined;
  readonly isRight: boolean;
}

const CELLS = 40;
const PAUSE_MS = 40;

export async function writeCells(
  { datastore }: OpenStore,
  shards: ReadonlySet<number>,
  seed: string,
): Promise<readonly NewCell[]> {
  const random = new Random(seed, 'cells to read', 0);
  const cells = Array.from({ length: CELLS }, (_, number) =>
    baseCell(rowKeyIn(random, shards, datastore.shards), { number }),
  );
  for (const { outcome } of await datastore.batchPut(cells))
    if (outcome !== 'stored') throw new Error(`a put: wanted stored, got ${outcome}`);
  return cells;
}

/** Reads cells in turn until it is ended. */
export async function startReads(
  access: StoreAccess,
  cells: readonly NewCell[],
  { read, wrap = (client) => client }: { readonly read: Role; readonly wrap?: (client: SqlClient) => SqlClient },
) {
  const store = await openStore(access, { wrap });
  const reads: ReaderRead[] = [];
  const stop = new AbortController();
  const reading = (async () => {
    for (let position = 0; !stop.signal.aborted; position += 1) {
      reads.push(await readOnce(store, cells[position % cells.length] as NewCell, read));
      await sleep(PAUSE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  reading.catch(() => undefined);
  return {
    reads,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reading;
      await store[Symbol.asyncDispose]();
    },
  };
}

/** Returns a client that sends every read to the reader: a store that does not fall back to the writer. */
export function readerOnly(client: SqlClient): SqlClient {
  return { ...client, select: (statement) => client.select(statement, 'reader') };
}

async function readOnce({ datastore }: OpenStore, cell: NewCell, read: Role): Promise<ReaderRead> {
  const sentAt = Date.now();
  try {
    const found = await datastore.get(cell, { read });
    return { sentAt, servedBy: found.served_by, isRight: found.cell !== null && equalJson(found.cell.body, cell.body) };
  } catch (error) {
    if (error instanceof SchemalessError && error.code === 'unavailable')
      return { sentAt, servedBy: undefined, isRight: false };
    throw error;
  }
}
