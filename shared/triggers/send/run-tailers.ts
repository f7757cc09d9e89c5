import { Workers } from '../../follow/workers.ts';
import { known, type Known } from '../../known.ts';
import { pauseFor } from '../../pause-for.ts';
import { openNotifiers } from '../../follow/notifications.ts';
import { readerWatch } from '../../follow/reader-watch.ts';
import { shareFetches } from '../../follow/read-log-entries.ts';
import { untilEnd } from '../../until-end.ts';
import type { StoreContext } from '../../access/context.ts';
import { TAIL_SETTINGS, type TailRun } from './tail-work.ts';
import { tailTrigger, type ListedTrigger, type TailerGroup, type TriggerTail } from './tail-trigger.ts';
import { readTailerCount } from './tailer-count.ts';

/** Between checks for triggers that ended, and for a successor that is ready. */
const SHORT_MS = 500;

/**
 * Sends the cells of all datastores to the queues of their triggers, with other workers. Ends with the deadline, the
 * signal, once a successor of its slot has taken over everything, or once fewer workers are configured.
 *
 * One worker group serves all triggers, with the same partitions of each. A datastore's triggers share statements.
 */
export async function runTailers(run: TailRun): Promise<void> {
  const settings = { ...TAIL_SETTINGS, ...run.settings };
  const { signal, end } = untilEnd(run.signal ?? new AbortController().signal);
  const deadline = setTimeout(end, run.deadline - Date.now());
  const report = (what: string, error: unknown): void =>
    run.report?.({ datastore: '', trigger: '', kind: 'failed', what, error });
  const tails = new Map<string, TriggerTail>();
  let workers: Workers | undefined;
  try {
    const desired = watchCount(run, report);
    const triggers = watchTriggers(run.context, settings.listMs, report);
    const listed = (): Promise<readonly ListedTrigger[] | undefined> => triggers.read().catch(() => undefined);
    if (!(await desired())) return;
    // The list comes first: the predecessor lets go of everything once it sees this worker.
    while (!signal.aborted && !(await listed())) await pauseFor(settings.pollMs, signal);
    if (signal.aborted) return;
    const { stateTable, owner, slot, heartbeat } = run;
    workers = new Workers({
      ...heartbeat,
      stateTable,
      workerGroup: 'tail',
      slot: String(slot),
      owner,
      onError: (error) => report('announcing itself', error),
    });
    const readers = readerWatch(run.context, {
      report: (event) => run.report?.({ datastore: '', trigger: '', kind: 'followed', event }),
    });
    const workerGroup: TailerGroup = {
      run,
      settings,
      workers,
      fetch: shareFetches(),
      readers,
      notifications: openNotifiers(run.context, { read: readers.roleOf }),
      signal,
    };
    while (!signal.aborted && (await desired())) {
      const isSucceeded = workers.assignment(1).successor !== undefined;
      // A tail that ended by itself may have been forgotten: the list is read before it begins again.
      if (!isSucceeded && [...tails.values()].some((tail) => !tail.isRunning())) triggers.forget();
      const now = await listed();
      if (now) align(workerGroup, tails, now, isSucceeded);
      workers.ready('tail', true);
      if (workers.assignment(1).successor?.ready && [...tails.values()].every((tail) => !tail.isRunning())) return;
      await pauseFor(SHORT_MS, signal);
    }
  } finally {
    clearTimeout(deadline);
    end();
    await Promise.all([...tails.values()].map(({ ended }) => ended));
    await workers?.leave().catch((error: unknown) => report('leaving', error));
  }
}

/**
 * Begins listed triggers, and ends those not listed or deployed otherwise. A worker with a successor begins nothing.
 */
function align(
  workerGroup: TailerGroup,
  tails: Map<string, TriggerTail>,
  listed: readonly ListedTrigger[],
  isSucceeded: boolean,
): void {
  const wanted = new Map(listed.map((one) => [`${one.datastore}/${one.deployed.definition.name}`, one]));
  for (const [key, tail] of tails) {
    const now = wanted.get(key);
    if (!now || JSON.stringify(now) !== JSON.stringify(tail.listed)) tail.end();
    if (!tail.isRunning() && !isSucceeded) tails.delete(key);
  }
  if (isSucceeded) return;
  for (const [key, one] of wanted) if (!tails.has(key)) tails.set(key, tailTrigger(workerGroup, one));
}

/** Returns whether this slot is among those configured, read every 15 s; the last answer holds. */
function watchCount(
  { stateTable, slot, tailers = Number.POSITIVE_INFINITY }: TailRun,
  report: (what: string, error: unknown) => void,
): () => Promise<boolean> {
  const count = known(async () => (await readTailerCount(stateTable)) ?? tailers, {
    maxAgeMs: 15_000,
    failed: (error) => report('looking at how many tailers there are to be', error),
  });
  return async () => slot < (await count.read().catch(() => tailers));
}

/** The triggers of all datastores, as deployed. */
function watchTriggers(
  { topology }: StoreContext,
  listMs: number,
  report: (what: string, error: unknown) => void,
): Known<readonly ListedTrigger[]> {
  const list = async (): Promise<readonly ListedTrigger[]> => {
    topology.refresh();
    const listed: ListedTrigger[] = [];
    for (const datastore of await topology.datastores())
      for (const deployed of await topology.triggers(datastore)) listed.push({ datastore, deployed });
    return listed;
  };
  const failed = (error: unknown): void => report('looking which triggers there are', error);
  return known(list, { maxAgeMs: listMs, failed });
}
