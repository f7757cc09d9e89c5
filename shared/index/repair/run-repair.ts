import { ofFirst, repeat } from '../../repeat.ts';
import { untilEnd } from '../../until-end.ts';
import { Workers, type WorkersOptions } from '../../follow/workers.ts';
import { readerWatch } from '../../follow/reader-watch.ts';
import { leases } from '../../dynamo/lease.ts';
import type { StoreContext } from '../../access/context.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { unavailableGroups, slowShards } from './unavailable-groups.ts';
import { mistypedCounts } from './mistyped-counts.ts';
import { DatastoreRepair, type DatastoreRun } from './repair-datastore.ts';
import { type RepairEvent, type RepairWork, REPAIR_SETTINGS, type RepairSettings } from './repair-work.ts';
import { watchIndexes } from './watched-indexes.ts';

export interface RepairRun {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  readonly owner: string;
  /** Runs of several slots share the partitions of the logs. Slot 0 also does what one run alone does. @default 0 */
  readonly slot?: number | undefined;
  /** When to end, by `Date.now()`: short of the function's time limit. */
  readonly deadline: number;
  readonly signal?: AbortSignal;
  readonly settings?: Partial<RepairSettings>;
  readonly heartbeat?: Pick<Required<WorkersOptions>, 'heartbeatMs' | 'silenceMs'>;
  readonly report?: (event: RepairEvent) => void;
}

/** The next run comes up to a minute after a killed one, and what that one held is free soon after. */
const HEARTBEAT = { heartbeatMs: 3000, silenceMs: 10_000 };

type Going = RepairRun & DatastoreRun & Pick<RepairWork, 'settings' | 'report'>;

/** Repairs, builds and drops indexes of all datastores, until the end or until its successor took over. */
export async function runRepair(run: RepairRun): Promise<void> {
  const { stateTable, owner, slot = 0, report = () => undefined, heartbeat = HEARTBEAT } = run;
  const { signal, end } = untilEnd(run.signal ?? new AbortController().signal);
  const onError = (error: unknown): void => report({ datastore: '', kind: 'failed', what: 'announcing', error });
  const going: Going = {
    ...run,
    slot,
    settings: { ...REPAIR_SETTINGS, ...run.settings },
    renewMs: heartbeat.heartbeatMs,
    report,
    workers: new Workers({ stateTable, workerGroup: 'repair', slot: String(slot), owner, ...heartbeat, onError }),
    leases: leases(stateTable, owner, heartbeat.silenceMs),
    readers: readerWatch(run.context, {
      report: (event) => report({ datastore: '', kind: 'followed', follower: 'repair', event }),
    }),
    signal,
  };
  const deadline = setTimeout(end, run.deadline - Date.now());
  const repairs = new Map<string, DatastoreRepair>();
  try {
    await repairAll(going, repairs);
  } finally {
    clearTimeout(deadline);
    end();
    await Promise.all([...repairs.values()].map(({ ended }) => ended));
    await going.workers.leave().catch(onError);
  }
}

async function repairAll(going: Going, repairs: Map<string, DatastoreRepair>): Promise<void> {
  const { context, topologyTable, settings, workers, report, signal } = going;
  const indexes = watchIndexes(context.topology, settings);
  const unavailable = unavailableGroups(context.groups, signal);

  async function poll(): Promise<'over' | void> {
    if (workers.assignment(1).successor?.ready && [...repairs.values()].every((repair) => repair.isOver()))
      return 'over';
    const isSucceeded = workers.assignment(1).successor !== undefined;
    for (const datastore of await indexes.datastores()) {
      const catalogues = await indexes.catalogues(datastore);
      if (!repairs.has(datastore) && catalogues.length > 0 && !isSucceeded) {
        const mistyped = mistypedCounts(topologyTable, datastore, (error) =>
          report({ datastore, kind: 'failed', what: 'counting mistyped fields', error }),
        );
        const slow = slowShards(settings.slowShardRestMs);
        const work = { ...going, datastore, indexes, unavailable, slow, mistyped };
        repairs.set(datastore, new DatastoreRepair(work, going));
      }
      repairs.get(datastore)?.poll(catalogues, isSucceeded);
    }
    // A successor that has polled has begun everything.
    workers.ready('repair', true);
  }

  const failed = ofFirst((error) => report({ datastore: '', kind: 'failed', what: 'looking at the topology', error }));
  await repeat({ turn: poll, everyMs: Math.min(settings.pollMs, SHORT_MS), failed }, signal);
}

/** A poll costs nothing: `pollMs` bounds readings of the catalogue. */
const SHORT_MS = 500;
