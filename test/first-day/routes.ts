import { randomUUID } from 'node:crypto';
import type { NewCell } from '../../shared/cell.ts';
import type { SchemalessClient } from '../../shared/client/client.ts';
import { timesOf, type Section } from './page.ts';

export const ROUTES = 'Latency by route';
export const BURST = 'A burst, as its callers see it';
const CALLERS = 40;
/** Until functions run and connections are open. */
const WARM = 20;
const BATCH = 100;
const BODY = { city: 'Lisbon', zone: 7, plate: '17-AB-22', note: 'a cell of a usual size '.repeat(10) };

/**
 * Measures how long each kind of request takes for one caller who waits for each answer.
 *
 * @param readers whether there are any
 */
export async function measureRoutes(client: SchemalessClient, samples: number, readers: boolean): Promise<Section> {
  const rows = Array.from({ length: BATCH }, () => randomUUID());
  const cellOf = (row_key: string, column_name = 'BASE'): NewCell => ({
    row_key,
    column_name,
    ref_key: 0,
    // Each index of the datastore has its shard field here, and so an entry.
    body: { ...BODY, driver_uuid: randomUUID(), rider: randomUUID(), created_at: new Date().toISOString() },
  });
  const row = (position: number): string => rows[position % BATCH] ?? '';
  await client.batchPut(rows.map((row_key) => cellOf(row_key)));
  const ofReader = (position: number): Promise<unknown> =>
    client.getLatest({ row_key: row(position), column_name: 'BASE' }, { read: 'reader' });
  const kinds: readonly (readonly [string, (position: number) => Promise<unknown>])[] = [
    ['put of a cell of four indexes', () => client.put(cellOf(randomUUID()))],
    ['put of a cell of no index', () => client.put(cellOf(randomUUID(), 'NOTE'))],
    [`batch of ${BATCH} rows`, () => client.batchPut(rows.map(() => cellOf(randomUUID(), 'NOTE')))],
    ['get', (position) => client.get({ row_key: row(position), column_name: 'BASE', ref_key: 0 })],
    ['get latest', (position) => client.getLatest({ row_key: row(position), column_name: 'BASE' })],
    ...(readers ? [['get latest, of a reader', ofReader] as const] : []),
    ['row', (position) => client.row(row(position))],
    [`batch get of ${BATCH}`, () => client.batchGet(rows.map((row_key) => ({ row_key, column_name: 'BASE' })))],
    ['query of an index, 10 rows', () => client.query({ index: 'zone_index', where: { zone: 7 }, limit: 10 })],
    ['log of a shard, 100 cells', () => client.log([{ shard: 0, after: 0 }], { limit: 100 })],
  ];
  const results = [];
  for (const [what, ask] of kinds) {
    const times: number[] = [];
    for (let position = 0; position < WARM + samples; position += 1) {
      const start = performance.now();
      await ask(position);
      if (position >= WARM) times.push(performance.now() - start);
    }
    results.push({ what, result: timesOf(times) });
  }
  return {
    title: ROUTES,
    how: `Median, p99 and longest, of one caller who waits for each answer, after ${WARM} requests of the kind; the way to the API is in it.`,
    results,
  };
}

/**
 * Measures how long simultaneous callers wait, before and after instances exist for all of them.
 *
 * @param client one that does not batch reads
 */
export async function measureBurst(client: SchemalessClient): Promise<Section> {
  const burst = (): Promise<readonly number[]> =>
    Promise.all(
      Array.from({ length: CALLERS }, async () => {
        const start = performance.now();
        await client.getLatest({ row_key: randomUUID(), column_name: 'BASE' });
        return performance.now() - start;
      }),
    );
  const [first, second] = [await burst(), await burst()];
  return {
    title: BURST,
    how: `${CALLERS} reads at once, then as many again. Median, p99 and longest. The first open their connections, and on AWS wait for new instances of the function to start; what is refused for being too much is repeated, and counts as one.`,
    results: [
      { what: 'first', result: timesOf(first) },
      { what: 'then', result: timesOf(second) },
    ],
  };
}
