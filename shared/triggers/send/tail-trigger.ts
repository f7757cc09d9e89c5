import { pauseFor } from '../../pause-for.ts';
import { runFollower } from '../../follow/run-follower.ts';
import type { BellTower } from '../../follow/bells.ts';
import type { ReaderWatch } from '../../follow/reader-watch.ts';
import type { FetchLogEntries } from '../../follow/read-log-entries.ts';
import { untilEnd } from '../../until-end.ts';
import type { Workers } from '../../follow/workers.ts';
import { triggerStore } from '../state/dynamo-trigger-store.ts';
import type { ListedTrigger } from './list-triggers.ts';
import type { TailRun } from './tail-run.ts';
import { sendRetries } from './send-retries.ts';
import type { TailSettings } from './settings.ts';
import { knownMarks } from './known-marks.ts';
import { mindQueue } from './mind-queue.ts';
import { tailFollower, type TailWatches } from './tail-follower.ts';
import type { TailHappening, TailWork } from './tail-work.ts';
import { watchDepth } from './watch-depth.ts';
import { watchLag } from './watch-lag.ts';
import { watchTroubles } from './watch-troubles.ts';
import { watchTrigger } from './watch-trigger.ts';

/** What the tailing for all triggers has in hand, beside the options of the run. */
export interface TailCrew {
  readonly run: TailRun;
  readonly settings: TailSettings;
  readonly workers: Workers;
  readonly fetch: FetchLogEntries;
  readonly bells: BellTower;
  readonly readers: ReaderWatch;
  readonly signal: AbortSignal;
}

export interface TriggerTail {
  readonly listed: ListedTrigger;
  /** `over`: a successor holds all of it, or it was forgotten; `failed`: it could not begin. */
  state(): 'running' | 'over' | 'ended' | 'failed';
  end(): void;
  /** Never fails. */
  readonly ended: Promise<void>;
}

/**
 * Tails the logs for one trigger, with whoever else does, until the signal, `end`, or until a successor has taken over.
 */
export function tailTrigger(crew: TailCrew, listed: ListedTrigger): TriggerTail {
  const { run, settings, workers } = crew;
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
  const watches: TailWatches = { watch: watchTrigger(work), depth: watchDepth(work), marks: knownMarks(work) };
  const { watch, depth } = watches;
  const follower = tailFollower(work, watches);
  const { signal, end } = untilEnd(crew.signal);
  let state: ReturnType<TriggerTail['state']> = 'running';

  async function follow(): Promise<void> {
    const { context, stateTable, topologyTable, owner, deadline, partitions } = run;
    const { pageCells, commitEveryMs, pauses } = settings;
    const lookouts = new AbortController();
    // Beside the following, until its last page has ended.
    const watching = [
      watch.run(lookouts.signal),
      depth.run(lookouts.signal),
      sendRetries(work, watch, signal),
      mindQueue(work, run, watches, lookouts.signal),
      ...(run.slot === 0 ? [watchLag(work, run, lookouts.signal), watchTroubles(work, lookouts.signal)] : []),
    ];
    let outcome: ReturnType<TriggerTail['state']> = 'failed';
    try {
      await runFollower({
        follower,
        context,
        stateTable,
        topologyTable,
        owner,
        deadline,
        signal,
        workers,
        pageCells,
        commitEveryMs,
        pauses,
        read: 'reader',
        fetch: crew.fetch,
        bells: crew.bells,
        readers: crew.readers,
        report: (event) => report({ kind: 'followed', event }),
        ...(partitions === undefined ? {} : { partitions }),
      });
      outcome = signal.aborted ? 'ended' : 'over';
    } catch (error) {
      report({ kind: 'failed', what: 'beginning', error });
      await pauseFor(settings.lookMs, signal);
    }
    end();
    lookouts.abort();
    await Promise.all(watching);
    // What is not followed any more keeps no successor waiting.
    workers.ready(`${follower.name}#${datastore}`, true);
    state = outcome;
  }

  // Said before anything is waited for: this worker is not to be taken for ready meanwhile.
  workers.ready(`${follower.name}#${datastore}`, false);
  return { listed, state: () => state, end, ended: follow() };
}
