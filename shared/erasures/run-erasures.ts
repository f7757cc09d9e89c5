import { sideBySide } from '../side-by-side.ts';
import { runJob, type JobRun } from '../dynamo/run-job.ts';
import type { Erasure } from '../api/erasures.ts';
import { ERASURES_LEASE } from '../granted-names.ts';
import { carryOut } from './carry-out.ts';
import type { ErasureWork } from './erasure-work.ts';
import { ROUND_MS, type RetentionSettings } from './retention/retention-offset.ts';
import { retentionRounds, type RetentionRound } from './retention/run-retention.ts';
import { openErasures, readErasure, unlist, writeProgress } from './erasure-record.ts';

interface ErasureRun extends ErasureWork, JobRun {
  /** Receives an erasure that is done, or waits for something else. */
  readonly report?: (datastore: string, erasure: Erasure) => void;
  readonly failed?: (error: unknown) => void;
  /** Receives the number of open erasures and the age of the oldest, every half minute while there are any. */
  readonly measured?: (open: number, oldestSeconds: number) => void;
  /** Milliseconds between polls. @default 10,000 */
  readonly pollMs?: number;
  /** How often retention polls. @default its own defaults */
  readonly retention?: RetentionSettings;
  /** Receives each round of each datastore with retention rules. */
  readonly retained?: (datastore: string, round: RetentionRound) => void;
}

/** The instance that received a younger erasure is likely still at work on it. */
const YOUNG_MS = 15_000;

/** Continues erasures and retention of all datastores until a successor takes over, or the deadline. */
export async function runErasures(run: ErasureRun): Promise<void> {
  const { pollMs = 10_000, failed = () => undefined } = run;
  await runJob(run, {
    lease: ERASURES_LEASE,
    begin({ lease: { token }, signal, work }) {
      work('erasures', { turn: erasurePolls(run, signal), everyMs: pollMs, failed });
      work('retention', {
        turn: retentionRounds({ ...run, token, ...(run.retention && { settings: run.retention }), signal }),
        everyMs: run.retention?.roundMs ?? ROUND_MS,
        failed,
      });
    },
  });
}

/** The state of an erasure that a run could not finish. */
interface Tried {
  /** When it was requested, by `Date.now()`. */
  readonly askedAt: number;
  /** By `performance.now()`. */
  readonly nextAt: number;
  readonly pauseMs: number;
}

/** The first and the longest pause between tries of one waiting erasure. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** How long the bodies of one row are erased before others have their turn. */
const TURN_MS = 10_000;
const MEASURE_MS = 30_000;

/** Returns a function that polls all erasures that are not done. */
function erasurePolls(run: ErasureRun, signal: AbortSignal): () => Promise<void> {
  const tried = new Map<string, Tried>();
  /** Ids found done, or without a record, which a caller may be about to write. */
  const seen = new Set<string>();
  let measuredAt = Number.NEGATIVE_INFINITY;
  return async () => {
    try {
      await Promise.all(
        (await run.context.topology.datastores()).map((datastore) => checkAt(run, { datastore, tried, seen, signal })),
      );
    } finally {
      if (tried.size > 0 && performance.now() - measuredAt >= MEASURE_MS) {
        measuredAt = performance.now();
        const oldest = Math.min(...[...tried.values()].map(({ askedAt }) => askedAt));
        run.measured?.(tried.size, Math.round((Date.now() - oldest) / 1000));
      }
    }
  };
}

interface Poll {
  readonly datastore: string;
  readonly tried: Map<string, Tried>;
  readonly seen: Set<string>;
  readonly signal: AbortSignal;
}

/** Polls the open erasures of a datastore. A failed one waits for a later poll, and delays no other. */
async function checkAt(run: ErasureRun, poll: Poll): Promise<void> {
  const { datastore, tried, signal } = poll;
  const ids = await openErasures(run.stateTable, datastore);
  const due = ids.filter((id) => (tried.get(id)?.nextAt ?? 0) <= performance.now());
  await sideBySide(due, async (id) => {
    if (!signal.aborted) await finish(run, poll, id).catch((error: unknown) => run.failed?.(error));
  });
}

function later(tried: Map<string, Tried>, id: string, askedAt: number): void {
  const before = tried.get(id);
  const pauseMs = Math.min(LONGEST_PAUSE_MS, (before?.pauseMs ?? FIRST_PAUSE_MS / 2) * 2);
  tried.set(id, { pauseMs, nextAt: performance.now() + pauseMs, askedAt: before?.askedAt ?? askedAt });
}

async function finish(run: ErasureRun, { datastore, tried, seen, signal }: Poll, id: string): Promise<void> {
  const erasure = await readErasure(run.stateTable, datastore, id);
  if (erasure?.state !== 'erasing') {
    // Only when found so twice: a caller that begins it again lists it first.
    if (!seen.has(id)) return void seen.add(id);
    seen.delete(id);
    tried.delete(id);
    return unlist(run.stateTable, datastore, id);
  }
  seen.delete(id);
  // The instance that received it is likely still at work on it.
  if (erasure.waits_for === null && Date.now() - Date.parse(erasure.requested_at) < YOUNG_MS) return;
  const until = performance.now() + TURN_MS;
  const patience = { mayGoOn: () => performance.now() < until && !signal.aborted, pollsMs: [0] };
  // Set before the try, so that a failed one waits as well.
  later(tried, id, Date.parse(erasure.requested_at));
  const after = await writeProgress(
    run.stateTable,
    datastore,
    erasure,
    await carryOut(run, datastore, erasure, patience),
  );
  if (after.state === 'erased') tried.delete(id);
  if (after.state === 'erased' || after.waits_for !== erasure.waits_for) run.report?.(datastore, after);
}
