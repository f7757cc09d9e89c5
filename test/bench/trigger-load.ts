import { setTimeout as sleep } from 'node:timers/promises';
import { dataFolder } from '../../infra/local/folder/data-folder.ts';
import type { NewCell } from '../../shared/cell.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { DATASTORE } from '../support/store-access.ts';
import type { Bench, Findings } from './bench.ts';
import { isKept } from './http/operations.ts';
import { startStack } from './http/start-stack.ts';
import { calmTrip } from './lags/calm-trips.ts';
import { startsInLog } from './lags/handler-starts.ts';
import { rowsOfLoad } from './load/load-findings.ts';

const TRIGGER = 'bill_rider';
/** Shares of the rate of callers who wait for their answers: these take resources that the trigger needs. */
const SHARES = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1];
const POLL_MS = 250;
/** The time for the trigger to finish the work of a rate. */
const CATCH_UP_MS = 180_000;

/** Measures whether a trigger keeps up while puts are borne. Its function writes two more cells for each. */
export const triggerLoadBench: Bench = {
  name: 'trigger-load',
  what: 'up to which rate puts of a triggered column through HTTP are borne with what the trigger does, on a whole local stack',
  isolated: true,
  limitMinutes: 8,

  async measure(world): Promise<Findings> {
    const { signal, say } = world;
    await using started = await startStack(world);
    const { stack, data, engine } = started;
    const client = schemalessClient({ url: stack.url, datastore: DATASTORE, attempts: 1 });
    const starts = await startsInLog(dataFolder(data).functionLog);
    const answered: NewCell[] = [];
    const put = async (): Promise<boolean> => {
      const trip = calmTrip();
      const isAnswered = isKept(await client.tryPut(trip));
      if (isAnswered) answered.push(trip);
      return isAnswered;
    };
    const behind = async (): Promise<number> => {
      await starts.read();
      return answered.filter((trip) => starts.startOf(trip) === undefined).length;
    };
    // The work that the trigger has left of one rate must not count for the next.
    const caughtUp = async (): Promise<void> => {
      const deadline = performance.now() + CATCH_UP_MS;
      while ((await behind()) > 0) {
        if (performance.now() > deadline)
          throw new Error(`${TRIGGER} has not caught up within ${CATCH_UP_MS / 1000} s`);
        await sleep(POLL_MS, undefined, { signal });
      }
      answered.length = 0;
    };
    return {
      measured: await rowsOfLoad('put of a triggered column through HTTP', put, {
        engine,
        say,
        signal,
        behind,
        shares: SHARES,
        between: caughtUp,
      }),
    };
  },
};
