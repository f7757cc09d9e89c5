import { sideBySide } from '../side-by-side.ts';
import { runJob, type JobRun } from '../dynamo/run-job.ts';
import type { Erasure } from '../api/erasures.ts';
import { ERASURES_LEASE } from '../granted-names.ts';
import { carryOut } from './carry-out.ts';
import type { ErasureWork } from './erasure-work.ts';
import { ROUND_MS, type RetentionSettings } from './retention/retention-place.ts';
import { retentionRounds, type RetentionRound } from './retention/run-retention.ts';
import { openErasures, readErasure, unlist, writeProgress } from './erasure-record.ts';

interface ErasureRun extends ErasureWork, JobRun {
  /** An erasure was done, or waits for something else. @default nobody wants to know */
  readonly report?: (datastore: string, erasure: Erasure) => void;
  readonly failed?: (error: unknown) => void;
  /** How many are not done, and the age of the oldest, every half minute while there are any. @default nobody wants to know */
  readonly measured?: (open: number, oldestSeconds: number) => void;
  /** Between looks. @default 5000 */
  readonly lookMs?: number;
  /** How often it is looked for what is out of its retention. @default as it says itself */
  readonly retention?: RetentionSettings;
  /** Of each datastore with rules of retention, after each round. @default nobody wants to know */
  readonly retained?: (datastore: string, round: RetentionRound) => void;
}

/** Whoever was asked for an erasure is likely still at work on it. */
const YOUNG_MS = 15_000;

/** Continues erasures and retention of all datastores until a successor takes over, or the deadline. */
export async function runErasures(run: ErasureRun): Promise<void> {
  const { lookMs = 5000, failed = () => undefined } = run;
  await runJob(run, {
    lease: ERASURES_LEASE,
    begin({ lease: { token }, signal, work }) {
      work('erasures', { turn: erasureLooks(run, signal), everyMs: lookMs, failed });
      work('retention', {
        turn: retentionRounds({ ...run, token, ...(run.retention && { settings: run.retention }), signal }),
        everyMs: run.retention?.roundMs ?? ROUND_MS,
        failed,
      });
    },
  });
}

/** What a run knows of one that it could not finish. */
interface Tried {
  /** When it was asked for, by `Date.now()`. */
  readonly askedAt: number;
  /** By `performance.now()`. */
  readonly nextAt: number;
  readonly pauseMs: number;
}

/** Between looks at one erasure that waits for something: the first time, and at most. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Bodies of one row are erased for so long before others have their turn. */
const TURN_MS = 10_000;
const MEASURE_MS = 30_000;

/** Returns a look at all erasures that are not done. */
function erasureLooks(run: ErasureRun, signal: AbortSignal): () => Promise<void> {
  const tried = new Map<string, Tried>();
  /** Ids that were found done, or without a record: whoever begins one may be about to write it. */
  const seen = new Set<string>();
  let measuredAt = Number.NEGATIVE_INFINITY;
  return async () => {
    try {
      await Promise.all(
        (await run.context.topology.datastores()).map((datastore) => lookAt(run, { datastore, tried, seen, signal })),
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

interface Look {
  readonly datastore: string;
  readonly tried: Map<string, Tried>;
  readonly seen: Set<string>;
  readonly signal: AbortSignal;
}

/** One look at all that is open of a datastore. What fails waits for a later one, and keeps no other waiting. */
async function lookAt(run: ErasureRun, look: Look): Promise<void> {
  const { datastore, tried, signal } = look;
  const ids = await openErasures(run.stateTable, datastore);
  const due = ids.filter((id) => (tried.get(id)?.nextAt ?? 0) <= performance.now());
  await sideBySide(due, async (id) => {
    if (!signal.aborted) await finish(run, look, id).catch((error: unknown) => run.failed?.(error));
  });
}

function later(tried: Map<string, Tried>, id: string, askedAt: number): void {
  const before = tried.get(id);
  const pauseMs = Math.min(LONGEST_PAUSE_MS, (before?.pauseMs ?? FIRST_PAUSE_MS / 2) * 2);
  tried.set(id, { pauseMs, nextAt: performance.now() + pauseMs, askedAt: before?.askedAt ?? askedAt });
}

async function finish(run: ErasureRun, { datastore, tried, seen, signal }: Look, id: string): Promise<void> {
  const erasure = await readErasure(run.stateTable, datastore, id);
  if (erasure?.state !== 'erasing') {
    // Only once it was found so twice: whoever begins it anew lists it first.
    if (!seen.has(id)) return void seen.add(id);
    seen.delete(id);
    tried.delete(id);
    return unlist(run.stateTable, datastore, id);
  }
  seen.delete(id);
  // Whoever was asked for it is likely still at work on it.
  if (erasure.waits_for === null && Date.now() - Date.parse(erasure.requested_at) < YOUNG_MS) return;
  const until = performance.now() + TURN_MS;
  const patience = { mayGoOn: () => performance.now() < until && !signal.aborted, looksMs: [0] };
  // Whatever comes of it: one that fails waits, too.
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
