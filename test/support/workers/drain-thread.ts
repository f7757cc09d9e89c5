/** A thread that drains the buffer tables, as the scheduled function does, until it is ended. */
import { randomUUID } from 'node:crypto';
import type { DrainSettings } from '../../../shared/drain/drain-lane.ts';
import { LEASE_MS, runDrain } from '../../../shared/drain/run-drain.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import { openStore, type StoreAccess } from '../store-access.ts';
import { runAsWorker } from './worker-side.ts';

export interface DrainInput {
  readonly access: StoreAccess;
  /** @default the store's own */
  readonly settings?: DrainSettings | undefined;
  /** Whether new datastores are known within seconds. @default within a minute */
  readonly checksForMore?: boolean;
}

export interface DrainCounts {
  /** Buffered writes deleted, since every node shows them. */
  readonly drained: number;
  /** Buffered writes appended to a primary that lacked them. */
  readonly appended: number;
  readonly conflicts: number;
  readonly failed: number;
}

export interface DrainProgress extends DrainCounts {
  /** How often the wrapper of the groups' clients differed from these, if it did. */
  readonly varied?: number;
}

/** How long a run of the function lasts before the next one continues. */
const RUN_MS = 60_000;
const REFRESH_MS = 2000;

await runAsWorker<DrainInput, 'stop', DrainProgress, DrainCounts>(
  async ({ access, settings = {}, checksForMore = false }, control) => {
    const counts: Record<keyof DrainCounts, number> = { drained: 0, appended: 0, conflicts: 0, failed: 0 };
    let varied = 0;
    const say = (): void => control.say({ ...counts, ...(varied > 0 && { varied }) });
    const onVaried = (): void => {
      varied += 1;
      say();
    };
    await using store = await openStore(access, { varied: onVaried });
    // Clock: the drain's own refresh.
    if (checksForMore) setInterval(() => store.context.topology.refresh(), REFRESH_MS).unref();
    control.ready();
    while (control.stopped === undefined) {
      await runDrain({
        context: store.context,
        leases: leases(store.stateTable, randomUUID(), LEASE_MS),
        // Clock: the run's own deadline.
        deadline: Date.now() + RUN_MS,
        settings,
        report: (_group, report) => {
          for (const key of Object.keys(counts) as (keyof DrainCounts)[]) counts[key] += report[key];
          say();
        },
      });
    }
    return counts;
  },
);
