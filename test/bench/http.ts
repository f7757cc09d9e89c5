import { requireDatastore } from '../../shared/access/groups.ts';
import { operatorsClient } from '../support/operators-client.ts';
import { DATASTORE } from '../support/store-access.ts';
import type { Bench, Findings, Measured } from './bench.ts';
import { inTurn } from './http/in-turn.ts';
import { openLibrary } from './http/open-library.ts';
import { anyOf, prepareOperations, putOne } from './http/operations.ts';
import { startStack } from './http/start-stack.ts';
import { triggeredPuts } from './http/triggered-puts.ts';
import { plainTables } from './plain-tables.ts';
import { rowsOn } from './rows.ts';
import { sideBySide, type Sides } from './side-by-side.ts';

const AT_ONCE = 32;
const LEAST = 0.5;
/** A put whose cell is the work of a trigger, next to one that is not. */
const LEAST_TRIGGERED = 0.6;
const WARM_MS = 1500;
/**
 * Threads of three processes have to be compiled: with four seconds get latest came out at 0.52 to 0.62, with eight at
 * 0.57 to 0.64.
 */
const WARM_HTTP_MS = 8000;
/** Of 32 puts each takes 100 to 250 ms, and a round ends with the last of them. */
const ROUND_MS = 240;
const TRIGGER = 'bill_rider';

export const httpBench: Bench = {
  name: 'http',
  what: 'the same through HTTP, gateway and functions of a whole local stack, next to the library on the same servers',
  limitMinutes: 7,

  async measure(world): Promise<Findings> {
    const { seed, signal, say } = world;
    await using parts = new AsyncDisposableStack();
    const { stack, engine } = parts.use(await startStack(world));
    // What is refused on a machine that is busy is asked again: its time counts.
    const client = operatorsClient({ url: stack.url, datastore: DATASTORE, retryBudget: false });
    // To bill what is written here would take longer than to write it, beside whatever is measured then.
    await client.pauseTrigger({ trigger: TRIGGER, reason: 'a measurement' });
    const library = parts.use(await openLibrary(stack));
    const { datastore } = library;
    const { operations, trips } = await prepareOperations(datastore, seed);

    const measured: Measured[] = [];
    const rowOf = rowsOn(engine);
    const add: typeof rowOf = (...parts) => {
      const row = rowOf(...parts);
      measured.push(row);
      say(`${row.what}: ${row.figure}`);
      return row;
    };
    const compare = async (what: string, sides: Sides): Promise<void> => {
      const { bar, atOnce = 1 } = sides;
      const { ratio, least, most, ours, theirs } = await sideBySide(
        { warmMs: WARM_MS, ourWarmMs: WARM_HTTP_MS, roundMs: ROUND_MS, ...sides },
        signal,
      );
      const figure = `${ratio.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)}; ${ours.toFixed(0)}, ${theirs.toFixed(0)} a second)`;
      const label = `${what}; ${atOnce} at once`;
      const passed = bar === undefined || ratio >= bar;
      add(label, figure, bar === undefined ? undefined : `≥ ${bar}`, passed);
    };
    for (const { what, once, atOnce = AT_ONCE, least: bar = LEAST } of operations)
      await compare(what, { ours: () => once(client), theirs: () => once(datastore), atOnce, bar });
    const topology = await requireDatastore(library.context.topology, DATASTORE);
    await using plain = await plainTables({ groups: stack.groups, topology, field: 'driver_partner_uuid' });
    await Promise.all(trips.written.map((trip) => plain.put(trip)));
    await compare('put, next to two plain inserts, what a user would do instead', {
      ours: () => putOne(client, trips.next()),
      theirs: async () => {
        await plain.put(trips.next());
        return 1;
      },
      atOnce: AT_ONCE,
    });
    await compare('get latest, next to a plain SELECT', {
      ours: async () => ((await client.getLatest(anyOf(trips.written))).cell ? 1 : 0),
      theirs: async () => ((await plain.latest(anyOf(trips.written))) === undefined ? 0 : 1),
      atOnce: AT_ONCE,
    });
    for (const { what, once } of operations) {
      const { ours, theirs } = await inTurn({ ours: () => once(client), theirs: () => once(datastore) }, signal);
      const figure = `${(theirs / ours).toFixed(2)} (${ours.toFixed(1)} ms, ${theirs.toFixed(1)} ms)`;
      add(`${what}; 1 at once, median`, figure);
    }
    const { triggered, resting } = await triggeredPuts(client, {
      trigger: TRIGGER,
      put: () => putOne(client, trips.next()),
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
