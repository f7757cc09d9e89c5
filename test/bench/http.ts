import { requireDatastore } from '../../shared/access/groups.ts';
import { operatorsClient } from '../support/operators-client.ts';
import { DATASTORE } from '../support/store-access.ts';
import type { Bench, Findings } from './bench.ts';
import { storeOf } from '../support/store-of.ts';
import { openLibrary } from './http/open-library.ts';
import { anyOf, prepareOperations, putOne } from './http/operations.ts';
import { startStack } from './http/start-stack.ts';
import { triggeredPuts } from './http/triggered-puts.ts';
import { plainTables } from './plain-tables.ts';
import { tellRows } from './rows.ts';

const AT_ONCE = 32;
const LEAST = 0.5;
/** The least rate of puts with a trigger, as a share of that without one. */
const LEAST_TRIGGERED = 0.6;
const WARM_MS = 1500;
/**
 * Code in the threads of three processes must be compiled: with four seconds get latest came out at 0.52 to 0.62, with
 * eight at 0.57 to 0.64.
 */
const WARM_HTTP_MS = 8000;
/** Each of 32 puts takes 100 to 250 ms, and a round ends with the last of them. */
const ROUND_MS = 240;
const TRIGGER = 'bill_rider';

export const httpBench: Bench = {
  name: 'http',
  what: 'the same through HTTP, gateway and functions of a whole local stack, next to the library on the same servers',
  limitMinutes: 7,

  async measure(world): Promise<Findings> {
    const { seed, signal } = world;
    await using parts = new AsyncDisposableStack();
    const { stack, engine } = parts.use(await startStack(world));
    // Requests refused by a busy machine are retried: their time counts.
    const client = operatorsClient({ url: stack.url, datastore: DATASTORE, retryBudget: false });
    const store = storeOf(client);
    // Billing these trips would take longer than writing them, in parallel with the next measurement.
    await client.pauseTrigger({ trigger: TRIGGER, reason: 'a measurement' });
    const library = parts.use(await openLibrary(stack));
    const { datastore } = library;
    const { operations, trips } = await prepareOperations(datastore, seed);

    const { measured, add, compare } = tellRows(engine, world, {
      warmMs: WARM_MS,
      ourWarmMs: WARM_HTTP_MS,
      roundMs: ROUND_MS,
      atOnce: AT_ONCE,
    });
    for (const { what, once, atOnce = AT_ONCE, least: bar = LEAST } of operations)
      await compare(`${what}; ${atOnce} at once`, {
        ours: () => once(store),
        theirs: () => once(datastore),
        atOnce,
        bar,
      });
    const topology = await requireDatastore(library.context.topology, DATASTORE);
    await using plain = await plainTables({ groups: stack.groups, topology, field: 'driver_partner_uuid' });
    await Promise.all(trips.written.map((trip) => plain.put(trip)));
    await compare(`put, next to two plain inserts, what a user would do instead; ${AT_ONCE} at once`, {
      ours: () => putOne(store, trips.next()),
      theirs: async () => {
        await plain.put(trips.next());
        return 1;
      },
    });
    await compare(`get latest, next to a plain SELECT; ${AT_ONCE} at once`, {
      ours: async () => ((await client.getLatest(anyOf(trips.written))).cell ? 1 : 0),
      theirs: async () => ((await plain.latest(anyOf(trips.written))) === undefined ? 0 : 1),
    });
    for (const { what, once } of operations)
      await compare(`${what}; 1 at once`, {
        ours: () => once(store),
        theirs: () => once(datastore),
        atOnce: 1,
        ourWarmMs: WARM_MS,
      });
    const { triggered, resting } = await triggeredPuts(client, {
      trigger: TRIGGER,
      put: () => putOne(store, trips.next()),
      callers: AT_ONCE,
      signal,
    });
    add(
      `put of a triggered column, next to the same while the trigger is paused; ${AT_ONCE} at once`,
      `${(triggered / resting).toFixed(2)} (${triggered.toFixed(0)}, ${resting.toFixed(0)} a second)`,
      `≥ ${LEAST_TRIGGERED}`,
      triggered >= LEAST_TRIGGERED * resting,
    );
    return { measured };
  },
};
