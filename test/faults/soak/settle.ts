import { setTimeout as sleep } from 'node:timers/promises';
import type { StackStatus } from '../../../infra/local/control/status.ts';
import { sendCommand } from '../../../infra/local/control/control-client.ts';
import type { BufferOperations } from '../../../shared/api/buffer.ts';
import type { TriggerOperations } from '../../../shared/api/triggers.ts';
import { sumOf } from '../fault-run.ts';

/** The work still under way inside a stack. */
export interface Rest {
  /** Rows in the groups' buffer tables, including parked ones and conflicts. */
  readonly buffered: number;
  /** Groups whose buffer did not answer. */
  readonly silent: number;
  /** Messages in the queues, waiting or held. */
  readonly messages: number;
  /** Cells that the triggers have not sent yet. */
  readonly unsent: number;
  /** Cells that the triggers have parked. */
  readonly parked: number;
}

type Waiting = Pick<BufferOperations, 'getBuffer'> & Pick<TriggerOperations, 'listTriggers' | 'retryParkedCells'>;

/** The work left in the end, and the retries it took. */
export interface Settled extends Rest {
  /** Parked cells that were retried. */
  readonly retried: number;
  readonly seconds: number;
}

const POLL_MS = 500;
/** The interval of retries of parked cells. */
const RETRY_MS = 15_000;

/** Counts it, now. */
export async function restOf(data: string, store: Pick<BufferOperations, 'getBuffer'>): Promise<Rest> {
  const [status, buffer] = await Promise.all([
    sendCommand(data, 'status') as Promise<StackStatus>,
    store.getBuffer().catch(() => undefined),
  ]);
  const groups = buffer?.groups;
  const summaries = status.triggers.map(({ summary }) => summary);
  return {
    buffered: sumOf(
      (groups ?? []).map((group) => ('error' in group ? 0 : group.rows + group.parked + group.conflicts)),
    ),
    silent: groups ? groups.filter((group) => 'error' in group).length : 1,
    // A queue that does not answer is not known to be empty.
    messages: sumOf(status.queues.map(({ visible = 1, held = 0 }) => visible + held)),
    unsent: sumOf(summaries.map((summary) => (summary ? summary.sent.cells + summary.sent.unknown_shards : 1))),
    parked: sumOf(summaries.map((summary) => summary?.parked ?? 0)),
  };
}

export function isEmpty({ buffered, silent, messages, unsent, parked }: Rest): boolean {
  return buffered + silent + messages + unsent + parked === 0;
}

export function settledResult({ buffered, messages, unsent, parked }: Rest): string {
  return `${buffered}, ${messages}, ${unsent}, ${parked}`;
}

/**
 * Waits until nothing is left; gives up after some time, and returns what is left. Retries the cells that a trigger has
 * parked, as an operator would once everything is up.
 */
export async function settle(data: string, store: Waiting, patienceMs: number, signal: AbortSignal): Promise<Settled> {
  const start = performance.now();
  let [retried, retriedAt] = [0, Number.NEGATIVE_INFINITY];
  for (;;) {
    const rest = await restOf(data, store);
    const now = performance.now();
    if (isEmpty(rest) || now - start > patienceMs) return { ...rest, retried, seconds: (now - start) / 1000 };
    if (rest.parked > 0 && now - retriedAt > RETRY_MS) {
      const { triggers } = await store.listTriggers();
      for (const { trigger } of triggers) retried += (await store.retryParkedCells({ trigger, cells: '*' })).wanted;
      retriedAt = now;
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}
