/** A process that repairs the indexes, as the scheduled function does, until it is ended. */
import { randomUUID } from 'node:crypto';
import { runRepair } from '../../../shared/index/repair/run-repair.ts';
import type { RepairSettings } from '../../../shared/index/repair/repair-work.ts';
import { openStore, type DatastoreAccess } from '../../support/store-access.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';
import { vary, type Variation } from './variation.ts';

export interface RepairInput {
  readonly access: DatastoreAccess;
  readonly variation: Variation;
  readonly settings?: Partial<RepairSettings>;
}

export interface RepairProgress {
  readonly repaired: number;
  /** How often entries of a group that was down were deferred. */
  readonly pending: number;
  readonly cuts: number;
  readonly writers: number;
}

/** How long a run of the function lasts; the next one takes over then. */
const RUN_MS = 60_000;
/** A killed run is declared dead soon, which shortens the wait. */
const HEARTBEAT = { heartbeatMs: 500, silenceMs: 8000 };
const SAY_MS = 200;

await runAsProcess<RepairInput, RepairProgress>(async ({ access, variation, settings = {} }, control) => {
  const varied = vary(variation, 'repair');
  await using store = await openStore(access, { wrap: varied.wrap });
  const { context, topologyTable, stateTable } = store;
  const progress = { repaired: 0, pending: 0, cuts: 0, writers: 0 };
  control.ready();
  const saying = setInterval(() => void control.say(progress), SAY_MS);
  while (!control.signal.aborted) {
    await runRepair({
      context,
      topologyTable,
      stateTable,
      owner: randomUUID(),
      deadline: Date.now() + RUN_MS,
      signal: control.signal,
      settings,
      heartbeat: HEARTBEAT,
      report(event) {
        if (event.kind === 'repaired') progress.repaired += event.entries;
        else if (event.kind === 'pending') progress.pending += event.shards;
        else if (event.kind === 'writer_changed') progress.writers += 1;
        else if (event.kind === 'followed' && event.event.kind === 'cut') progress.cuts += 1;
      },
    });
  }
  clearInterval(saying);
  await control.say(progress);
});
