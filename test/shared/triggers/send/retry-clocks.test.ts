import { describe, expect, it } from 'vitest';
import type { QueueMessage } from '../../../../shared/triggers/state/queues.ts';
import { retrySender } from '../../../../shared/triggers/send/send-retries.ts';
import { TAIL_SETTINGS, type TailWork } from '../../../../shared/triggers/send/tail-work.ts';
import type { TriggerWatch } from '../../../../shared/triggers/send/watch-trigger.ts';
import { parseMessage } from '../../../../shared/triggers/state/queue-message.ts';
import type { FailingCell } from '../../../../shared/triggers/state/trigger-store.ts';
import { messageOf } from '../consume/support/stage.ts';

const MINUTE = 60_000;
// Clock: a time as data.
const ago = (minutes: number): string => new Date(Date.now() - minutes * MINUTE).toISOString();

/** Returns whether a cell with these times, by the clock of another process, is sent again at once. */
async function isSent(
  cell: Pick<FailingCell, 'parked_at' | 'retried_at' | 'retry'>,
  retryParkedEveryMs: number | undefined,
): Promise<boolean> {
  const sent: QueueMessage[] = [];
  const failing: FailingCell = {
    message: messageOf(17, 1),
    attempts: 5,
    first_failed_at: ago(90),
    last_failed_at: ago(90),
    last_error: 'card declined',
    round: 0,
    ...cell,
  };
  const work = {
    deployed: { definition: { ...(retryParkedEveryMs !== undefined && { retryParkedEveryMs }) }, queueUrl: 'url' },
    store: { takeRetry: async () => sent.length === 0 },
    queues: {
      send: async (_url: string, messages: readonly QueueMessage[]) => (
        sent.push(...messages),
        messages.map(() => undefined)
      ),
    },
    settings: TAIL_SETTINGS,
    report: () => undefined,
  } as unknown as TailWork;
  const watch = {
    status: () => ({ state: 'running', troubled_blocks: [0] }),
    troubled: () => [{ shard: 17, cells: [failing] }],
    poll: async () => undefined,
  } as unknown as TriggerWatch;
  const send = retrySender(work, watch);
  await send();
  await send();
  return sent.some(({ body }) => parseMessage(body).added_id === 1);
}

describe('a parked cell', () => {
  it.each([
    ['each time that its time has come', { parked_at: ago(60), retried_at: ago(11) }, 10 * MINUTE, true],
    ['not before', { parked_at: ago(60), retried_at: ago(9) }, 10 * MINUTE, false],
    ['where a worker took it and died', { parked_at: ago(60), retried_at: ago(16), retry: 'sent' }, undefined, true],
    ['not while it may be under way', { parked_at: ago(60), retried_at: ago(14), retry: 'sent' }, undefined, false],
  ] as const)('is sent again %s', async (_when, cell, everyMs, expected) => {
    expect(await isSent(cell, everyMs)).toBe(expected);
  });
});

describe('a parked cell whose times were written by a clock that was an hour ahead', () => {
  it('waits for that hour neither to be retried nor to be found lost', async () => {
    expect(await isSent({ parked_at: ago(-60) }, 10 * MINUTE)).toBe(true);
    expect(await isSent({ parked_at: ago(20), retried_at: ago(-60), retry: 'sent' }, undefined)).toBe(true);
  });

  it('is not sent again where none is ever, nor before its time by a clock that is ahead by less than a minute', async () => {
    expect(await isSent({ parked_at: ago(-60) }, undefined)).toBe(false);
    expect(await isSent({ parked_at: ago(-0.5) }, 10 * MINUTE)).toBe(false);
    expect(await isSent({ parked_at: ago(5) }, 10 * MINUTE)).toBe(false);
    expect(await isSent({ parked_at: ago(11) }, 10 * MINUTE)).toBe(true);
  });
});
