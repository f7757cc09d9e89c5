import { pauseFor } from '../../pause-for.ts';
import { untilEnd } from '../../until-end.ts';
import { Workers, type WorkersOptions } from '../../follow/workers.ts';
import { readerWatch, type ReaderWatch } from '../../follow/reader-watch.ts';
import { leases, type Leases } from '../../dynamo/lease.ts';
import type { StoreContext } from '../../access/context.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { awayGroups } from './away-groups.ts';
import { mistypedCounts } from './mistyped-counts.ts';
import { repairDatastore, type DatastoreRepair } from './repair-datastore.ts';
import type { RepairEvent } from './repair-work.ts';
import { REPAIR_SETTINGS, type RepairSettings } from './settings.ts';
import { slowShards } from './slow-shards.ts';
import { watchIndexes } from './watched-indexes.ts';

export interface RepairRun {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  readonly owner: string;
  /** When to end, by `Date.now()`, whatever comes: short of the function's own time limit. */
  readonly deadline: number;
  /** Ends the run earlier, in the same orderly way. */
  readonly signal?: AbortSignal;
  /** @default REPAIR_SETTINGS, for those left out */
  readonly settings?: Partial<RepairSettings>;
  /** Of the announcement to other runs, and of leases. @default those of `Workers` */
  readonly heartbeat?: Pick<Required<WorkersOptions>, 'heartbeatMs' | 'silenceMs'>;
  readonly report?: (event: RepairEvent) => void;
}

/** As that of the tailers: what a run that was killed held is free soon, the watch over builds too. */
const HEARTBEAT = { heartbeatMs: 1000, silenceMs: 6000 };

/** What a run has in hand beside its options. */
interface Going extends Required<Pick<RepairRun, 'report'>> {
  readonly settings: RepairSettings;
  readonly heartbeat: Pick<Required<WorkersOptions>, 'heartbeatMs' | 'silenceMs'>;
  readonly workers: Workers;
  readonly leases: Leases;
  readonly readers: ReaderWatch;
  readonly signal: AbortSignal;
}

/**
 * Keeps the indexes of all datastores behind the writes: writes entries that are missing or wrong, builds new versions,
 * drops old ones. Until its successor has taken over all of it, the deadline, or the signal. Started every minute, so
 * that there is never a gap.
 */
export async function runRepair(run: RepairRun): Promise<void> {
  const { stateTable, owner, report = () => undefined, heartbeat = HEARTBEAT } = run;
  const { signal, end } = untilEnd(run.signal ?? new AbortController().signal);
  const onError = (error: unknown): void => report({ datastore: '', kind: 'failed', what: 'announcing', error });
  const going: Going = {
    settings: { ...REPAIR_SETTINGS, ...run.settings },
    heartbeat,
    report,
    workers: new Workers({ stateTable, crew: 'repair', slot: 'repair', owner, ...heartbeat, onError }),
    leases: leases(stateTable, owner, heartbeat.silenceMs),
    readers: readerWatch(run.context, {
      report: (event) => report({ datastore: '', kind: 'followed', follower: 'repair', event }),
    }),
    signal,
  };
  const deadline = setTimeout(end, run.deadline - Date.now());
  const repairs = new Map<string, DatastoreRepair>();
  try {
    await repairAll(run, going, repairs);
  } finally {
    clearTimeout(deadline);
    end();
    await Promise.all([...repairs.values()].map(({ ended }) => ended));
    await going.workers.leave().catch(onError);
  }
}

async function repairAll(run: RepairRun, going: Going, repairs: Map<string, DatastoreRepair>): Promise<void> {
  const { settings, workers, report, signal } = going;
  const indexes = watchIndexes(run.topologyTable, settings.versionsAgeMs, settings.retiredForMs);
  const away = awayGroups(run.context.groups, signal);
  let failing = false;
  let readAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    // A reading scans the table.
    if (performance.now() - readAt >= settings.lookMs) {
      run.context.topology.refresh();
      readAt = performance.now();
    }
    try {
      const isSucceeded = workers.share(1).successor !== undefined;
      for (const datastore of await indexes.datastores()) {
        const catalogues = await indexes.catalogues(datastore);
        if (!repairs.has(datastore) && catalogues.length > 0 && !isSucceeded) {
          const { context, topologyTable, stateTable, owner, deadline } = run;
          const mistyped = mistypedCounts(topologyTable, datastore, (error) =>
            report({ datastore, kind: 'failed', what: 'counting mistyped fields', error }),
          );
          const work = {
            context,
            topologyTable,
            stateTable,
            datastore,
            settings,
            indexes,
            away,
            slow: slowShards(settings.slowShardRestMs),
            mistyped,
            report,
          };
          repairs.set(
            datastore,
            repairDatastore(work, {
              workers,
              leases: going.leases,
              readers: going.readers,
              owner,
              deadline,
              renewMs: going.heartbeat.heartbeatMs,
              signal,
            }),
          );
        }
        repairs.get(datastore)?.look(catalogues, isSucceeded);
      }
      // A successor that has looked has begun whatever there is to do.
      workers.ready('repair', true);
      failing = false;
    } catch (error) {
      if (!failing) report({ datastore: '', kind: 'failed', what: 'looking at the topology', error });
      failing = true;
    }
    if (workers.share(1).successor?.ready && [...repairs.values()].every((repair) => repair.isOver())) return;
    await pauseFor(Math.min(settings.lookMs, SHORT_MS), signal);
  }
}

/** The catalogue is read no more often than `versionsAgeMs` says: a look costs nothing. */
const SHORT_MS = 500;
