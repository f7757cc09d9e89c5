import { join } from 'node:path';
import { requireDatastore } from '../../../shared/access/groups.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { maintainedIndexes } from '../../../shared/index/index-table.ts';
import { DATASTORE } from '../../support/store-access.ts';
import type { BenchWorld } from '../bench.ts';
import { fill } from '../../support/fill.ts';
import { SHARDS, startFilledStore } from '../growth/filled-store.ts';
import { openLibrary } from '../http/open-library.ts';
import { startStack } from '../http/start-stack.ts';
import type { RecordStore } from './record-operations.ts';
import { newRecords, THREAD_INDEX, type RecordColumn } from './records.ts';
import type { Way } from './settings.ts';

/** A store with records in it, as many of each column. */
export interface Records extends AsyncDisposable {
  readonly datastore: RecordStore;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
}

const CONNECTIONS = 16;
const COLUMNS: readonly RecordColumn[] = ['BASE', 'POST'];

/**
 * Through the library clients, store and drain share this one process; through HTTP there are a gateway and functions
 * between, in processes of their own. Either way the groups have no readers, and the machine is the servers', too.
 */
export function openRecords(way: Way, world: BenchWorld, count: number): Promise<Records> {
  return way === 'library' ? inThisProcess(world, count) : throughHttp(world, count);
}

async function inThisProcess(world: BenchWorld, count: number): Promise<Records> {
  const filled = await startFilledStore(world, {
    index: THREAD_INDEX,
    cells: newRecords(COLUMNS, count),
    connections: CONNECTIONS,
  });
  return {
    datastore: filled.store.datastore,
    engine: filled.engine,
    [Symbol.asyncDispose]: () => filled[Symbol.asyncDispose](),
  };
}

async function throughHttp(world: BenchWorld, count: number): Promise<Records> {
  await using parts = new AsyncDisposableStack();
  const datastores = join(import.meta.dirname, 'datastores');
  const { stack, engine } = parts.use(
    await startStack(world, ['--datastores', datastores, '--readers', '0', '--shards', String(SHARDS)]),
  );
  {
    await using library = await openLibrary(stack);
    const { topology } = library.context;
    await fill({
      groups: stack.groups,
      topology: await requireDatastore(topology, DATASTORE),
      indexes: await maintainedIndexes(topology, DATASTORE),
      cells: newRecords(COLUMNS, count),
      signal: world.signal,
    });
  }
  const kept = parts.move();
  // What is refused on a machine that is busy is asked again: its time counts.
  const datastore = schemalessClient({ url: stack.url, datastore: DATASTORE, retryBudget: false });
  return { datastore, engine, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
