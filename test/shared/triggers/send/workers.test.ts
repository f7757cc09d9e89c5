import { describe, expect, it } from 'vitest';
import { writeTailerCount } from '../../../../shared/triggers/send/tailer-count.ts';
import { removeTrigger, writeTrigger } from '../../../../shared/topology/trigger-catalogue.ts';
import {
  cellsOf,
  followEvents,
  heldBy,
  idsOf,
  sharedTailing,
  startTailer,
  tailedTrigger,
} from './support/tailed-store.ts';
import { orderBreaks, startWriting } from '../../follow/support/followed-store.ts';
import { triggerNamed } from '../../../support/trigger-named.ts';
import { until } from '../../../support/until.ts';

const SHARDS = 12;
/** Takes no worker for dead on a busy machine, in tests of other matters. */
const PATIENT = { heartbeatMs: 100, silenceMs: 20_000 };
const { sqs, open } = await sharedTailing(SHARDS);

describe('tailers', () => {
  it('hand over to the next of their slot, again and again, without skipping or breaking the order, each once the next holds all', async () => {
    const tailed = await open([{ name: 'one' }, { name: 'other' }]);
    const [one, other] = [tailed.trigger('one'), tailed.trigger('other')];
    const start = () => startTailer(sqs, tailed, { heartbeat: PATIENT });
    const tailers = [start()];
    const stopWriting = startWriting(tailed);
    await until('it sends', () => tailers.some(({ events }) => events.some(({ kind }) => kind === 'sent')));
    for (let turn = 0; turn < 3; turn += 1) {
      const next = start();
      await tailers.at(-1)?.ended;
      expect(heldBy(next)).toBe(2 * SHARDS);
      tailers.push(next);
    }
    const cells = await stopWriting();
    await Promise.all([one.getsCells(cells), other.getsCells(cells)]);
    await tailers.at(-1)?.stop();
    expect([orderBreaks(one.received), orderBreaks(other.received)]).toEqual([0, 0]);
    expect([one.received.length, other.received.length]).toEqual([cells, cells]);
  });

  it('are as many as are configured while they run, and share the shards', async () => {
    const tailed = await open([{ name: 'shared' }]);
    const shared = tailed.trigger('shared');
    await writeTailerCount(tailed.stateTable, 1);
    const all = [0, 1, 2, 3].map((slot) => () => startTailer(sqs, tailed, { slot, tailers: 4, heartbeat: PATIENT }));
    const [first, ...rest] = all.map((start) => start());
    const stopWriting = startWriting(tailed);
    await Promise.all(rest.map(({ ended }) => ended));
    await writeTailerCount(tailed.stateTable, 4);
    const four = [first, ...all.slice(1).map((start) => start())].flatMap((tailer) => tailer ?? []);
    await until('four share the shards', () => four.map(heldBy).every((count) => count === 3));
    await writeTailerCount(tailed.stateTable, 2);
    await Promise.all(four.slice(2).map(({ ended }) => ended));
    await until('two share the shards', () => four.map(heldBy).join() === '6,6,0,0');
    await shared.getsCells(await stopWriting());
    await Promise.all(four.map((tailer) => tailer.stop()));
    expect(orderBreaks(shared.received)).toBe(0);
    await expect(writeTailerCount(tailed.stateTable, 65)).rejects.toThrow(
      'tailers: wanted an integer from 0 to 64, got 65',
    );
  });

  it('go on with what one left that was killed: what it had sent and not committed is dropped by SQS', async () => {
    const tailed = await open([{ name: 'orphaned' }]);
    const orphaned = tailed.trigger('orphaned');
    const doomed = startTailer(sqs, tailed, { heartbeat: { heartbeatMs: 100, silenceMs: 1000 } });
    await until('it has begun', () => heldBy(doomed) === SHARDS);
    doomed.gate.state = 'no-commits';
    for (let shard = 0; shard < SHARDS; shard += 1) await tailed.write(shard, 3);
    await orphaned.gets(3 * SHARDS);
    doomed.gate.state = 'paused';
    const next = startTailer(sqs, tailed, { heartbeat: { heartbeatMs: 100, silenceMs: 1000 } });
    for (let shard = 0; shard < SHARDS; shard += 1) await tailed.write(shard, 1);
    await orphaned.gets(4 * SHARDS);
    expect(cellsOf(next, 'sent')).toBe(4 * SHARDS);
    doomed.gate.state = 'open';
    await Promise.all([doomed.stop(), next.stop()]);
    await orphaned.receive();
    for (let shard = 0; shard < SHARDS; shard += 1) expect(idsOf(orphaned.received, shard)).toEqual([1, 2, 3, 4]);
  });

  it('go on while DynamoDB is unavailable, and while SQS is', async ({ skip }) => {
    const { service } = sqs;
    if (!service) return skip('this SQS is not ours to kill');
    const tailed = await open([{ name: 'steady' }]);
    const steady = tailed.trigger('steady');
    const tailer = startTailer(sqs, tailed, { heartbeat: { heartbeatMs: 20, silenceMs: 200 } });
    for (let shard = 0; shard < SHARDS; shard += 1) await tailed.write(shard, 1);
    await steady.gets(SHARDS);
    tailer.gate.state = 'unavailable';
    await tailed.write(1, 3);
    await steady.gets(SHARDS + 3);
    // For longer than the silence after which others take it for dead.
    const beats = (): number => tailer.gate.asked.get('workers#tail') ?? 0;
    const before = beats();
    await until('it was not announced for so long', () => beats() > before + 20);
    await tailed.write(2, 3);
    await steady.gets(SHARDS + 6);
    tailer.gate.state = 'open';
    await service.kill();
    await tailed.write(3, 3);
    await until('it cannot send', () => tailer.events.some(({ kind }) => kind === 'send_failed'));
    await service.resume();
    await tailed.write(3, 3);
    await steady.gets(SHARDS + 12);
    await tailer.stop();
    expect(orderBreaks(steady.received)).toBe(0);
    expect(followEvents(tailer, 'partition_lost')).toEqual([]);
  });

  it('take up triggers that are added, with their own queues, and leave those that are removed', async () => {
    const tailed = await open([{ name: 'old' }]);
    const [old, added] = [
      tailed.trigger('old'),
      tailedTrigger(sqs, tailed, {
        definition: triggerNamed('added'),
        queueUrl: await sqs.newQueue(),
        parkedQueueUrl: '',
      }),
    ];
    const tailer = startTailer(sqs, tailed);
    await tailed.write(4, 2);
    await old.gets(2);
    await writeTrigger(tailed.store.topologyTable, tailed.datastore, added.deployed);
    await added.gets(2);
    await removeTrigger(tailed.store.topologyTable, tailed.datastore, 'old');
    await until('the old one is let go', () => followEvents(tailer, 'partition_released', 'old').length === SHARDS);
    await tailed.write(4, 2);
    await added.gets(4);
    expect(await old.receive()).toHaveLength(2);
    const changed = tailedTrigger(sqs, tailed, {
      ...added.deployed,
      definition: triggerNamed('added', { columns: ['STATUS'] }),
      queueUrl: await sqs.newQueue(),
    });
    await writeTrigger(tailed.store.topologyTable, tailed.datastore, changed.deployed);
    await until('it is begun again', () => followEvents(tailer, 'partition_taken', 'added').length === 2 * SHARDS);
    await tailed.write(4, 1);
    await tailed.write(4, 1, 'STATUS');
    await changed.gets(1);
    await tailer.stop();
    expect(idsOf(changed.received, 4)).toEqual([6]);
  });
});
