import { setTimeout as sleep } from 'node:timers/promises';
import { schemalessClient } from '../../shared/client/client.ts';
import { persist } from '../support/persist.ts';
import { DATASTORE } from '../support/store-access.ts';
import type { Bench, Findings, Measured } from './bench.ts';
import { startStack } from './http/start-stack.ts';
import { calmTrip } from './lags/calm-trips.ts';
import { countRequests, type RequestCounts } from './requests/count-requests.ts';
import { rowsOn } from './rows.ts';

/** The time to load functions, reach the longest pauses and commit offsets. */
const SETTLE_MS = 60_000;
const REST_SECONDS = 120;
const DAY_SECONDS = 86_400;
const LOADS = [
  { what: 'one cell a second', perSecond: 1, seconds: 60 },
  { what: '100 cells a second', perSecond: 100, seconds: 30 },
];
/** The time for the last cells to reach their function, and for its own cells to be written. */
const LAST_MS = 10_000;

/** Measures the requests of a trigger to DynamoDB and SQS, which charge for each. */
export const requestsBench: Bench = {
  name: 'requests',
  what: 'requests of DynamoDB and SQS per cell that a trigger is called for, on a whole local stack as shipped',
  isolated: true,
  limitMinutes: 9,

  async measure(world): Promise<Findings> {
    const { signal, say } = world;
    await using counted = await countRequests(world.folder);
    Object.assign(process.env, counted.environment);
    await using started = await startStack(world, ['--shards', '16']);
    const row = rowsOn(started.engine);
    const client = schemalessClient({ url: started.stack.url, datastore: DATASTORE });
    const put = (): Promise<unknown> => persist(signal, () => client.put(calmTrip()));
    const wait = (milliseconds: number): Promise<void> => sleep(milliseconds, undefined, { signal });

    await put();
    await wait(SETTLE_MS);
    const before = counted.counts();
    await wait(REST_SECONDS * 1000);
    const rest = counted.since(before);
    const aDay = scaled(rest, DAY_SECONDS / REST_SECONDS);
    say(`at rest, a day: ${lineOf(aDay)}`);
    const measured: Measured[] = [
      row('requests a day at rest, which one cell a day pays for', `${totals(aDay)} (${lineOf(aDay)})`),
    ];
    for (const { what, perSecond, seconds } of LOADS) {
      const from = counted.counts();
      const since = performance.now();
      const puts: Promise<unknown>[] = [];
      for (let cell = 0; cell < perSecond * seconds; cell += 1) {
        const ahead = (cell * 1000) / perSecond - (performance.now() - since);
        if (ahead > 0) await wait(ahead);
        puts.push(put());
      }
      await Promise.all(puts);
      await wait(LAST_MS);
      const perCell = scaled(counted.since(from), 1 / puts.length);
      say(`${what}: ${lineOf(perCell)}`);
      measured.push(row(`requests per cell, ${what}`, `${totals(perCell)} (${lineOf(perCell)})`));
    }
    return { measured };
  },
};

function scaled(counts: RequestCounts, by: number): RequestCounts {
  return new Map([...counts].map(([operation, count]) => [operation, count * by]));
}

function totals(counts: RequestCounts): string {
  const of = (service: string): number =>
    [...counts].reduce((sum, [operation, count]) => sum + (operation.startsWith(service) ? count : 0), 0);
  return `DynamoDB ${result(of('DynamoDB'))}, SQS ${result(of('AmazonSQS'))}`;
}

function lineOf(counts: RequestCounts): string {
  return [...counts]
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([operation, count]) => `${operation.split('.')[1]} ${result(count)}`)
    .join(', ');
}

const result = (count: number): string => (count < 100 ? count.toFixed(2) : Math.round(count).toLocaleString('en-US'));
