import { describe, expect, it } from 'vitest';
import { cellsOf, hasPolled, idsOf, sharedTailing, startTailer, type TailedTrigger } from './support/tailed-store.ts';
import { until } from '../../../support/until.ts';

const SHARDS = 4;
const { sqs, open } = await sharedTailing(SHARDS);
const tailed = await open([{ name: 'by_hand' }, { name: 'rare', columns: ['REFUND'] }]);

async function parkOf(trigger: TailedTrigger, shard: number, count: number): Promise<void> {
  await until(
    'its cells are received',
    async () => (await trigger.receive()).filter((one) => one.shard === shard).length >= count,
  );
  for (const { group, ...message } of trigger.received.filter((one) => one.shard === shard).slice(0, count)) {
    await trigger.store.failed(message, 'no', false);
    await trigger.store.park(message, 'no', 100);
    expect(group).toBe(String(shard));
  }
}

const retries = ({ received }: TailedTrigger) => received.filter(({ group }) => group.endsWith('-retry'));
const retriesNow = async (trigger: TailedTrigger) => (await trigger.receive(), retries(trigger));

describe('parked cells', () => {
  it('are sent again once on request, in a group of their own, as replays, by one worker', async () => {
    const trigger = tailed.trigger('by_hand');
    const tailers = [0, 1].map((slot) => startTailer(sqs, tailed, { slot }));
    await tailed.write(1, 5);
    await parkOf(trigger, 1, 3);
    const havePolled = () => Promise.all(tailers.map((tailer) => hasPolled(tailer, tailed, 'by_hand')));
    await havePolled();
    expect(await retriesNow(trigger)).toEqual([]);
    const wanted = [1, 3].map((added_id) => ({ shard: 1, added_id }));
    await trigger.store.setState('paused');
    await until('both workers know', () =>
      tailers.every(({ events }) =>
        events.some(
          (event) => event.kind === 'held_back' && event.trigger === 'by_hand' && event.why === 'it is paused',
        ),
      ),
    );
    expect(await trigger.store.wantRetry(wanted)).toBe(2);
    await havePolled();
    expect(await retriesNow(trigger)).toEqual([]);
    await trigger.store.resume();
    await until('they are sent', async () => (await retriesNow(trigger)).length === 2);
    expect(retries(trigger)).toMatchObject(wanted.map((cell) => ({ ...cell, group: '1-retry', replay: true })));
    expect(await trigger.store.wantRetry(wanted)).toBe(2);
    await until('they are sent again', async () => (await retriesNow(trigger)).length === 4);
    await havePolled();
    expect(await retriesNow(trigger)).toHaveLength(4);
    expect(idsOf(trigger.received, 1)).toEqual([1, 2, 3, 4, 5]);
    const [shard] = await trigger.store.shards([1]);
    expect(shard?.cells.map(({ message, round, retry }) => [message.added_id, round, retry])).toEqual([
      [1, 2, 'sent'],
      [2, 0, undefined],
      [3, 2, 'sent'],
    ]);
    await Promise.all(tailers.map((tailer) => tailer.stop()));
    expect(tailers.reduce((sum, tailer) => sum + cellsOf(tailer, 'retried'), 0)).toBe(4);
  });

  it.each([
    ['young', {}],
    ['old', { oldMarkMs: 1 }],
  ])(
    'leave a mark that keeps no rare column waiting, however many cells of others lie between: a %s one',
    async (_age, settings) => {
      const trigger = tailed.trigger('rare');
      const tailer = startTailer(sqs, tailed, { settings: { pastMark: 10, pastOldMark: 2, ...settings } });
      const seen = (await trigger.receive()).length;
      await tailed.write(1, 1, 'REFUND');
      await trigger.gets(seen + 1);
      await trigger.store.mark(1, trigger.received.at(-1)?.added_id ?? 0);
      await hasPolled(tailer, tailed, 'rare');
      await tailed.write(1, 60);
      await tailed.write(1, 1, 'REFUND');
      await trigger.gets(seen + 2);
      // And what is sent past the mark is bounded as ever: by then the consumer has had its message for long.
      await tailed.write(1, 60);
      await tailed.write(1, 1, 'REFUND');
      await hasPolled(tailer, tailed, 'rare');
      expect(await trigger.receive()).toHaveLength(seen + 2);
      await trigger.store.mark(1, undefined);
      await trigger.gets(seen + 3);
      await tailer.stop();
    },
  );
});
