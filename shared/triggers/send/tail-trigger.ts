import { pauseFor } from '../../pause-for.ts';
import { runFollower } from '../../follow/run-follower.ts';
import type { Notifiers } from '../../follow/notifications.ts';
import type { ReaderWatch } from '../../follow/reader-watch.ts';
import type { FetchLogEntries } from '../../follow/read-log-entries.ts';
import { untilEnd } from '../../until-end.ts';
import type { Workers } from '../../follow/workers.ts';
import type { DeployedTrigger } from '../../topology/topology.ts';
import { triggerStore } from '../state/dynamo-trigger-store.ts';
import { type TailRun, type TailSettings, poll, type TailHappening, type TailWork } from './tail-work.ts';
import { retrySender } from './send-retries.ts';
import { knownMarks } from './known-marks.ts';
import { QueueMinder } from './monitor-queue.ts';
import { tailFollower, type TailWatches } from './tail-follower.ts';
import { watchDepth, TriggerWatch } from './watch-trigger.ts';
import { requireDatastore } from '../../access/groups.ts';
import { triggerLags } from '../state/shard-lags.ts';

export interface ListedTrigger {
  readonly datastore: string;
  readonly deployed: DeployedTrigger;
}

export interface TailerGroup {
  readonly run: TailRun;
  readonly settings: TailSettings;
  readonly workers: Workers;
  readonly fetch: FetchLogEntries;
  readonly notifications: Notifiers;
  readonly readers: ReaderWatch;
  readonly signal: AbortSignal;
}

export interface TriggerTail {
  readonly listed: ListedTrigger;
  /** False once a successor holds all of it, it was forgotten, it ended, or it could not begin. */
  isRunning(): boolean;
  end(): void;
  /** Never fails. */
  readonly ended: Promise<void>;
}

/** Returns what a worker polls for a trigger; the worker of slot 0 reports for all. */
function pollsOf(work: TailWork, run: TailRun, { watch, depth }: TailWatches) {
  const { pollMs, depthEveryMs, lagEveryMs } = work.settings;
  const minder = new QueueMinder(work, run, { watch, depth });
  const forAll = [
    { what: 'looking how far it is', everyMs: lagEveryMs, poll: () => reportLag(work, run) },
    { what: 'looking what waits for an operator', everyMs: lagEveryMs, poll: () => reportTroubles(work) },
  ];
  return [
    { what: 'looking at its state', everyMs: pollMs, poll: () => watch.poll() },
    { what: 'looking at its queue', everyMs: depthEveryMs, poll: () => depth.poll() },
    { what: 'looking whether its queue has all', everyMs: pollMs, poll: () => minder.poll() },
    ...(run.slot === 0 ? forAll : []),
  ];
}

/** Tails the logs for one trigger, with other workers, until the signal, `end`, or until a successor has taken over. */
export function tailTrigger(workerGroup: TailerGroup, listed: ListedTrigger): TriggerTail {
  const { run, settings, workers } = workerGroup;
  const { datastore, deployed } = listed;
  const trigger = deployed.definition.name;
  const report = (happening: TailHappening): void => run.report?.({ datastore, trigger, ...happening });
  const work: TailWork = {
    datastore,
    deployed,
    queues: run.queues,
    store: triggerStore(run.stateTable, { datastore, trigger }),
    settings,
    report,
  };
  const watches: TailWatches = { watch: new TriggerWatch(work), depth: watchDepth(work), marks: knownMarks(work) };
  const follower = tailFollower(work, watches);
  const { signal, end } = untilEnd(workerGroup.signal);
  let isRunning = true;

  async function follow(): Promise<void> {
    const lookouts = new AbortController();
    // Polls go on until the last page has ended; retries end with the signal.
    const polling = [
      ...pollsOf(work, run, watches).map((one) => poll(work, one, lookouts.signal)),
      poll(
        work,
        { what: 'retrying parked cells', everyMs: settings.pollMs, poll: retrySender(work, watches.watch) },
        signal,
      ),
    ];
    try {
      await runFollower({
        ...run,
        ...settings,
        ...workerGroup,
        follower,
        signal,
        read: 'reader',
        report: (event) => report({ kind: 'followed', event }),
      });
    } catch (error) {
      report({ kind: 'failed', what: 'beginning', error });
      await pauseFor(settings.pollMs, signal);
    }
    end();
    lookouts.abort();
    await Promise.all(polling);
    // A trigger that is not followed any more keeps no successor waiting.
    workers.ready(`${follower.name}#${datastore}`, true);
    isRunning = false;
  }

  // Before the first await: this worker must not be taken for ready.
  workers.ready(`${follower.name}#${datastore}`, false);
  return { listed, isRunning: () => isRunning, end, ended: follow() };
}

/**
 * Reports how far consuming and sending are behind the logs, of all workers together, and repairs marks that it meets.
 */
export async function reportLag(
  { datastore, deployed: { definition, queueUrl }, queues, store, report }: TailWork,
  { context, stateTable }: Pick<TailRun, 'context' | 'stateTable'>,
): Promise<void> {
  const topology = await requireDatastore(context.topology, datastore);
  const waiting = await queues.depth(queueUrl).catch(() => undefined);
  const { lag, sent, cutOff } = await triggerLags({ context, stateTable, topology, definition, store }, waiting);
  if (cutOff.size > 0) await store.consumed.takeBack(cutOff);
  report({
    kind: 'lag',
    cells: lag.cells,
    seconds: lag.seconds,
    unsentCells: sent.cells,
    unsentSeconds: sent.seconds,
  });
}

/** Reports what waits for an operator, for as long as it does. */
export async function reportTroubles({ store, report }: Pick<TailWork, 'store' | 'report'>): Promise<void> {
  const [{ state, ...status }, malformed] = await Promise.all([store.status(), store.malformed()]);
  const shards = await store.shards(await store.troubled(status));
  const parked = shards.flatMap(({ cells }) => cells.filter(({ parked_at }) => parked_at !== undefined));
  report({ kind: 'troubles', isStopped: state === 'stopped', parked: parked.length, malformed: malformed.length });
}
