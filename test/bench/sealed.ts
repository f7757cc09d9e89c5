import { randomUUID } from 'node:crypto';
import type { NewCell } from '../../shared/cell.ts';
import { apiClient } from '../../shared/client/api-client.ts';
import { schemalessClient, type SchemalessClient } from '../../shared/client/client.ts';
import type { Bench, BenchWorld, Findings } from './bench.ts';
import { startStack } from './http/start-stack.ts';
import { tellRows } from './rows.ts';

const SHARDS = 16;
const LEAST = 0.9;
/** The threads of several processes must be compiled. */
const WARM_MS = 6000;
const AT_ONCE = 16;
const READ = 200;
/** Riders whose keys are in memory, once they were read. */
const RIDERS = 20;

/** Measures the cost of sealing: the same cells put and read with and without it, in turn, through HTTP. */
export const sealedBench: Bench = {
  name: 'sealed',
  what: 'the cost of sealed fields through HTTP, gateway and functions of a whole local stack: three of six fields, and one',
  limitMinutes: 6,

  async measure(world: BenchWorld): Promise<Findings> {
    await using parts = new AsyncDisposableStack();
    const { stack, engine } = parts.use(await startStack(world));
    const [sealed, one, open] = await defined(stack.url);
    const { measured, compare } = tellRows(engine, world, { warmMs: WARM_MS, roundMs: 600 });
    const riders = Array.from({ length: RIDERS }, () => randomUUID());
    const known = (): NewCell => trip(riders[Math.floor(Math.random() * RIDERS)] ?? '');
    const put = { ours: () => stored(sealed, known()), theirs: () => stored(open, known()) };
    await compare('put of three sealed fields next to one of none; 1 at once', { ...put, bar: LEAST });
    await compare(`the same; ${AT_ONCE} at once`, { ...put, atOnce: AT_ONCE });
    await compare('put of three fields of a subject that has no key yet next to one of none; 1 at once', {
      ours: () => stored(sealed, trip(randomUUID())),
      theirs: () => stored(open, trip(randomUUID())),
    });
    const cells = Array.from({ length: READ }, known);
    for (const client of [sealed, one, open]) for (const cell of cells) await stored(client, cell);
    const any = (): NewCell => cells[Math.floor(Math.random() * READ)] as NewCell;
    const get = { ours: () => found(one, any()), theirs: () => found(open, any()) };
    await compare('get of one sealed field next to one of none; 1 at once', { ...get, bar: LEAST });
    await compare(`the same; ${AT_ONCE} at once`, { ...get, atOnce: AT_ONCE });
    const three = { ours: () => found(sealed, any()), theirs: () => found(open, any()) };
    await compare('get of three sealed fields next to one of none; 1 at once', three);
    const hundred = cells.slice(0, 100).map(({ row_key, column_name, ref_key }) => ({ row_key, column_name, ref_key }));
    const batch = async (client: SchemalessClient): Promise<number> => (await client.batchGet(hundred)).length;
    await compare('batch-get of 100 cells with three sealed fields each, next to one of none', {
      ours: () => batch(sealed),
      theirs: () => batch(open),
    });
    return { measured };
  },
};

/** Defines three datastores that differ in that alone: three sealed fields, one, and none. */
async function defined(url: string): Promise<readonly [SchemalessClient, SchemalessClient, SchemalessClient]> {
  const fields = { column: 'BASE', subject: 'rider_uuid', fields: ['rider_name', 'rider_phone', 'note'] };
  const one = { ...fields, fields: ['rider_name'] };
  const files = {
    'sealed_trips/datastore.yaml': { datastore: 'sealed_trips', shards: SHARDS, sealed: [fields] },
    'once_sealed_trips/datastore.yaml': { datastore: 'once_sealed_trips', shards: SHARDS, sealed: [one] },
    'open_trips/datastore.yaml': { datastore: 'open_trips', shards: SHARDS },
  };
  await apiClient({ url, datastore: 'definitions' }).applyDefinitions({ files });
  return [
    schemalessClient({ url, datastore: 'sealed_trips', retryBudget: false }),
    schemalessClient({ url, datastore: 'once_sealed_trips', retryBudget: false }),
    schemalessClient({ url, datastore: 'open_trips', retryBudget: false }),
  ];
}

/** Returns a cell of about a third of a kilobyte in a new row. */
function trip(rider_uuid: string): NewCell {
  const body = {
    rider_uuid,
    rider_name: 'Ana Maria Silva e Costa',
    rider_phone: '+351 21 123 45 67',
    city: 'Lisbon',
    fare: { total: Math.round(Math.random() * 5000) / 100, currency: 'EUR' },
    note: 'x'.repeat(150),
  };
  return { row_key: randomUUID(), column_name: 'BASE', ref_key: 1, body };
}

async function stored(client: SchemalessClient, cell: NewCell): Promise<number> {
  const { outcome } = await client.put(cell);
  if (outcome !== 'stored' && outcome !== 'stored_before') throw new Error(`a put was answered ${outcome}`);
  return 1;
}

async function found(client: SchemalessClient, { row_key, column_name, ref_key, body }: NewCell): Promise<number> {
  const { cell } = await client.get({ row_key, column_name, ref_key });
  if (Object(cell?.body).note !== Object(body).note) throw new Error('a cell was read otherwise');
  return 1;
}
