import { closeSync, openSync, writeSync } from 'node:fs';
import type { SqlClient } from '../../../shared/sql/client.ts';
import type { SendingQueues } from '../../../shared/triggers/state/queues.ts';
import { TAIL_SETTINGS } from '../../../shared/triggers/send/tail-work.ts';
import { withoutFingerprints } from '../without-fingerprints.ts';
import { withoutWaiting } from '../without-waiting.ts';

/** How a tailer deviates: a fault, and the features that controls lack. */
export interface TailerVariation {
  /**
   * It dies (SIGKILL) at one of its sends: before the queue is asked, or once it has accepted and before the offset is
   * committed.
   */
  readonly dies: 'never' | 'before_send' | 'after_send';
  /** Which send that is, from 1. */
  readonly atSend: number;
  /** Off: any cell at an offset passes for the one that was there. */
  readonly fingerprints: boolean;
  /** Off: a message counts as sent before the queue is asked. */
  readonly waitsForQueue: boolean;
  /** Off: messages sent again after a rewind look like repetitions to the queue. */
  readonly generationsInQueue: boolean;
  /** Off: it ends its run if DynamoDB is unavailable. */
  readonly goesOnWithoutState: boolean;
  /** It asks no reader. */
  readonly readsWriter: boolean;
}

export const GOOD_TAILER: TailerVariation = {
  dies: 'never',
  atSend: 0,
  fingerprints: true,
  waitsForQueue: true,
  generationsInQueue: true,
  goesOnWithoutState: true,
  readsWriter: false,
};

interface SendCounts {
  /** Messages that the queue took. */
  sent: number;
}

/** Wraps a tailer's client of a group. */
export function varyClient(client: SqlClient, { readsWriter, fingerprints }: TailerVariation): SqlClient {
  const asked: SqlClient = readsWriter
    ? { ...client, select: (statement) => client.select(statement, 'writer') }
    : client;
  return fingerprints ? asked : withoutFingerprints(asked);
}

/**
 * Wraps a tailer's queues.
 *
 * @param file every message that a queue took is written there, also by a tailer that dies right after
 */
export function varyQueues(
  queues: SendingQueues,
  { generationsInQueue, waitsForQueue, dies, atSend }: TailerVariation,
  counts: SendCounts,
  file: string,
): SendingQueues & Disposable {
  const handle = openSync(file, 'a');
  let sends = 0;
  const varied: SendingQueues = {
    depth: (queueUrl) => queues.depth(queueUrl),
    async send(queueUrl, given) {
      const messages = generationsInQueue
        ? given
        : given.map((message) => ({ ...message, deduplicationId: withoutGeneration(message.deduplicationId) }));
      sends += 1;
      if (dies === 'before_send' && sends >= atSend) await die();
      const results = await queues.send(queueUrl, messages);
      const taken = messages.filter((_, position) => results[position] === undefined);
      counts.sent += taken.length;
      writeSync(handle, taken.map(({ deduplicationId }) => `${deduplicationId}\n`).join(''));
      if (dies === 'after_send' && sends >= atSend) await die();
      return results;
    },
  };
  const careful = waitsForQueue ? varied : withoutWaiting(varied, TAIL_SETTINGS.commitEveryMs);
  return { ...careful, [Symbol.dispose]: () => closeSync(handle) };
}

async function die(): Promise<void> {
  process.kill(process.pid, 'SIGKILL');
  // It comes, but perhaps not before the next line.
  await new Promise(() => undefined);
}

function withoutGeneration(deduplicationId: string): string {
  return deduplicationId.slice(0, deduplicationId.lastIndexOf('-'));
}
