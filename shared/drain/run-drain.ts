import { setTimeout as sleep } from 'node:timers/promises';
import { SchemalessError } from '../errors.ts';
import type { Lease, Leases } from '../lease/lease.ts';
import { SqlError } from '../sql/client.ts';
import { selectBufferStatus, toBufferStatus, type BufferStatus } from '../sql/statements/select-buffer-status.ts';
import type { StoreContext } from '../store/context.ts';
import { recoverPrimary } from './recover-primary.ts';
import { drainPass, type DrainReport, type DrainSettings } from './drain-pass.ts';

export interface DrainRun {
  readonly context: StoreContext;
  readonly leases: Leases;
  /** When to end, by `Date.now()`, whatever comes: short of the function's own time limit. */
  readonly deadline: number;
  readonly settings?: DrainSettings;
  readonly report: (group: string, report: DrainReport) => void;
  /** A group's new writer lacked so many cells, and has them now. @default nobody wants to know */
  readonly recovered?: (group: string, cells: number) => void;
  /** What waits in a group's buffer table, every half minute. @default nobody wants to know */
  readonly measured?: (group: string, status: BufferStatus) => void;
}

/** How often a lease is renewed, and looked at for a successor. A fifth of its duration. */
export const RENEW_MS = 2000;
/** How long a holder may be silent before its lease is taken. */
export const LEASE_MS = 10_000;
const TAKE_PAUSE_MS = 500;
/** Between passes; a pass goes on by itself while its pages are full. Rows wait two seconds anyway, and few passes over many rows cost less. */
const PAUSE_MS = 1000;
/** Between figures of how much waits, and since when: an alarm on them needs no finer ones. */
const MEASURE_MS = 30_000;

/**
 * Drains the buffer tables of all groups side by side, each under its lease, until a successor has taken over each of
 * them, or the deadline. Started every minute, so that there is never a gap: the successor waits for the hand-over.
 */
export async function runDrain(run: DrainRun): Promise<void> {
  const groups = await run.context.groups.names();
  // With one group there is nobody to buffer for.
  if (groups.length < 2) return;
  await Promise.all(groups.map((group) => drainGroup(run, group)));
}

async function drainGroup(run: DrainRun, group: string): Promise<void> {
  const lease = await takeLease(run, `drain/${group}`);
  if (!lease) return;
  const state = { going: true };
  const stop = new AbortController();
  const renewing = keepRenewing(run, lease, state, stop.signal);
  let measuredAt = Number.NEGATIVE_INFINITY;
  try {
    while (state.going && Date.now() < run.deadline) {
      await recover(run, group);
      await onePass(run, group, () => state.going && Date.now() < run.deadline);
      if (run.measured && performance.now() - measuredAt >= MEASURE_MS) {
        measuredAt = performance.now();
        await measure(run, group);
      }
      if (state.going) await sleep(PAUSE_MS);
    }
  } finally {
    stop.abort();
    await renewing;
    // One that is not released is taken once it has been silent for long enough.
    await run.leases.release(lease).catch(() => undefined);
  }
}

async function takeLease(run: DrainRun, name: string): Promise<Lease | undefined> {
  while (Date.now() < run.deadline) {
    // A table that cannot be reached ends nothing: the other groups' runs go on, and this one tries again.
    const lease = await run.leases.take(name).catch(() => undefined);
    if (lease) return lease;
    await sleep(TAKE_PAUSE_MS);
  }
  return undefined;
}

async function keepRenewing(run: DrainRun, lease: Lease, state: { going: boolean }, signal: AbortSignal): Promise<void> {
  while (state.going && !signal.aborted) {
    await sleep(RENEW_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    // A table that cannot be reached takes the lease from nobody: go on, and try again.
    const held = await run.leases.renew(lease).catch(() => 'held' as const);
    if (held !== 'held') state.going = false;
  }
}

async function measure({ context, measured }: DrainRun, group: string): Promise<void> {
  try {
    const client = await context.groups.client(group);
    measured?.(group, toBufferStatus(await client.select(selectBufferStatus(), 'writer')));
  } catch (error) {
    if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
    context.report({ kind: 'secondary_failed', group, error });
  }
}

/** Lets the group take appends again after another of its servers became the writer. */
async function recover({ context, recovered }: DrainRun, group: string): Promise<void> {
  try {
    const cells = await recoverPrimary(context, group);
    if (cells !== undefined) recovered?.(group, cells);
  } catch (error) {
    // It, or one that may hold its copies, cannot be asked now.
    if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
    context.report({ kind: 'primary_failed', group, error });
  }
}

async function onePass(run: DrainRun, group: string, mayGoOn: () => boolean): Promise<void> {
  try {
    const report = await drainPass(run.context, group, mayGoOn, run.settings);
    if (report.seen > 0) run.report(group, report);
  } catch (error) {
    // This group's own table cannot be reached now: it is looked at again after the pause.
    if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
    run.context.report({ kind: 'secondary_failed', group, error });
  }
}
