import { schemalessClient } from '../../shared/client/client.ts';
import { DATASTORE } from '../support/store-access.ts';
import type { BarPlot, Bench, Findings, Measured } from './bench.ts';
import { inTurn } from './http/in-turn.ts';
import { openLibrary } from './http/open-library.ts';
import { prepareOperations } from './http/operations.ts';
import { startStack } from './http/start-stack.ts';
import { sideBySide } from './side-by-side.ts';

const AT_ONCE = 32;
const LEAST = 0.5;
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
  limitMinutes: 5,

  async measure(world): Promise<Findings> {
    const { seed, signal, say } = world;
    await using parts = new AsyncDisposableStack();
    const { stack, engine } = parts.use(await startStack(world));
    // What is refused on a machine that is busy is asked again: its time counts.
    const client = schemalessClient({ url: stack.url, datastore: DATASTORE, retryBudget: false });
    // To bill what is written here would take longer than to write it, beside whatever is measured then.
    await client.pauseTrigger(TRIGGER, 'a measurement');
    const { datastore } = parts.use(await openLibrary(stack));
    const operations = await prepareOperations(datastore, seed);

    const measured: Measured[] = [];
    const bars: BarPlot['bars'][number][] = [];
    const add = (row: Omit<Measured, 'engine'>): void => {
      measured.push({ ...row, engine });
      say(`${row.what}: ${row.figure}`);
    };
    for (const { what, once, atOnce = AT_ONCE } of operations) {
      const sides = {
        ours: () => once(client),
        theirs: () => once(datastore),
        atOnce,
        warmMs: WARM_MS,
        ourWarmMs: WARM_HTTP_MS,
        roundMs: ROUND_MS,
        bar: LEAST,
      };
      const { ratio, least, most, ours, theirs } = await sideBySide(sides, signal);
      const figure = `${ratio.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)}; ${ours.toFixed(0)}, ${theirs.toFixed(0)} a second)`;
      add({ what: `${what}; ${atOnce} at once`, figure, bar: `≥ ${LEAST}`, passed: ratio >= LEAST });
      bars.push({ label: `${what}; ${atOnce} at once`, value: ratio, least, most, bar: LEAST, passed: ratio >= LEAST });
    }
    for (const { what, once } of operations) {
      const { ours, theirs } = await inTurn({ ours: () => once(client), theirs: () => once(datastore) }, signal);
      add({
        what: `${what}; 1 at once, median`,
        figure: `${(theirs / ours).toFixed(2)} (${ours.toFixed(1)} ms, ${theirs.toFixed(1)} ms)`,
        bar: 'printed',
        passed: true,
      });
      bars.push({ label: `${what}; 1 at once`, value: theirs / ours });
    }
    return {
      measured,
      plots: [{ kind: 'bars', title: 'Through HTTP, next to the library', unit: 'of its speed', bars }],
    };
  },
};
