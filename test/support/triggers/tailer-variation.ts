import { closeSync, openSync, writeSync } from 'node:fs';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import type { SendingQueues } from '../../../shared/triggers/state/queues.ts';
import { TAIL_SETTINGS } from '../../../shared/triggers/send/tail-work.ts';
import { Random } from '../random.ts';
import { withoutCommitFence } from '../without-commit-fence.ts';
import { withoutFingerprints } from '../without-fingerprints.ts';
import { withoutGenerationFence } from '../without-generation-fence.ts';
import { withoutResending } from '../without-resending.ts';
import { withoutWaiting } from '../without-waiting.ts';

/** How a tailer fares otherwise than well: a fault, and what controls do without. */
export interface TailerVariation {
  /**
   * It dies (SIGKILL) at one of its sends: before the queue is asked, or once it has accepted and before the offset is
   * committed.
   */
  readonly dies: 'never' | 'before_send' | 'after_send';
  /** Which send that is, from 1. */
  readonly atSend: number;
  /** The queue refuses the third message of so many sends, and takes the others. */
  readonly refusesThird: number;
  /** Its clock is so far ahead of the machine's, in milliseconds. */
  readonly clockMs: number;
  /** Off: its offsets are written whoever holds the partition by now. */
  readonly commitFence: boolean;
  /** Off: its offsets are written whatever rewind came between. */
  readonly generationFence: boolean;
  /** Off: whatever cell is at an offset passes for the one that was there. */
  readonly fingerprints: boolean;
  /** Off: a message counts as sent before the queue is asked. */
  readonly waitsForQueue: boolean;
  /** Off: a message that was refused is sent again alone, and those behind it go on. */
  readonly resendsFromRefused: boolean;
  /** Off: messages sent again after a rewind look like repetitions to the queue. */
  readonly generationsInQueue: boolean;
  /** Off: it gives everything up when DynamoDB is away. */
  readonly goesOnWithoutState: boolean;
  /** It asks no reader. */
  readonly readsWriter: boolean;
}

export const GOOD_TAILER: TailerVariation = {
  dies: 'never',
  atSend: 0,
  refusesThird: 0,
  clockMs: 0,
  commitFence: true,
  generationFence: true,
  fingerprints: true,
  waitsForQueue: true,
  resendsFromRefused: true,
  generationsInQueue: true,
  goesOnWithoutState: true,
  readsWriter: false,
};

interface SendCounts {
  /** Messages that the queue took. */
  sent: number;
  refused: number;
}

/** A send that is refused in part is at least so large. */
const FULL = 4;
const THIRD = 2;
/** Before a refused message is sent again alone: many of its shard come meanwhile. */
const AGAIN_AFTER_MS = 500;

/** Stands between a tailer and a group. */
export function varyClient(client: SqlClient, { readsWriter, fingerprints }: TailerVariation): SqlClient {
  const asked: SqlClient = readsWriter
    ? { ...client, select: (statement) => client.select(statement, 'writer') }
    : client;
  return fingerprints ? asked : withoutFingerprints(asked);
}

export function varyState(table: DynamoTable, { commitFence, generationFence }: TailerVariation): DynamoTable {
  if (!commitFence) return withoutCommitFence(table);
  return generationFence ? table : withoutGenerationFence(table);
}

/**
 * Stands between a tailer and its queues.
 *
 * @param file every message that a queue took is written there, also by a tailer that dies right after
 */
export function varyQueues(
  queues: SendingQueues,
  variation: TailerVariation,
  counts: SendCounts,
  { file, seed }: { readonly file: string; readonly seed: string },
): SendingQueues & Disposable {
  const random = new Random(seed, 'refused sends', 0);
  const handle = openSync(file, 'a');
  let sends = 0;
  const varied: SendingQueues = {
    depth: (queueUrl) => queues.depth(queueUrl),
    async send(queueUrl, given) {
      const messages = variation.generationsInQueue
        ? given
        : given.map((message) => ({ ...message, deduplicationId: withoutGeneration(message.deduplicationId) }));
      sends += 1;
      if (variation.dies === 'before_send' && sends >= variation.atSend) await die();
      const refuses = messages.length >= FULL && counts.refused < variation.refusesThird && random.chance(0.5);
      if (refuses) counts.refused += 1;
      const passed = messages.filter((_, position) => !refuses || position !== THIRD);
      const results = [...(await queues.send(queueUrl, passed))];
      const taken = passed.filter((_, position) => results[position] === undefined);
      counts.sent += taken.length;
      writeSync(handle, taken.map(({ deduplicationId }) => `${deduplicationId}\n`).join(''));
      if (variation.dies === 'after_send' && sends >= variation.atSend) await die();
      return refuses ? results.toSpliced(THIRD, 0, new Error('InternalError: refused on purpose')) : results;
    },
  };
  return { ...withoutItsCare(varied, variation), [Symbol.dispose]: () => closeSync(handle) };
}

function withoutItsCare(queues: SendingQueues, { waitsForQueue, resendsFromRefused }: TailerVariation): SendingQueues {
  if (!waitsForQueue) return withoutWaiting(queues, TAIL_SETTINGS.commitEveryMs);
  return resendsFromRefused ? queues : withoutResending(queues, AGAIN_AFTER_MS);
}

async function die(): Promise<void> {
  process.kill(process.pid, 'SIGKILL');
  // It comes, but perhaps not before the next line.
  await new Promise(() => undefined);
}

function withoutGeneration(deduplicationId: string): string {
  return deduplicationId.slice(0, deduplicationId.lastIndexOf('-'));
}

/** Sets this process's clock ahead, wherever it is looked at from now on. */
export function setClockAhead(milliseconds: number): void {
  if (milliseconds === 0) return;
  const RealDate = Date;
  // Clock: a clock that is ahead.
  const now = (): number => RealDate.now() + milliseconds;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given: []) => Reflect.construct(target, given.length === 0 ? [now()] : given) as Date,
    get: (target, key) => (key === 'now' ? now : (Reflect.get(target, key) as unknown)),
  });
}
