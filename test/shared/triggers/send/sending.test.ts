import { describe, expect, it } from 'vitest';
import { cellsOf, hasPolled, idsOf, sharedTailing, startTailer } from './support/tailed-store.ts';
import { until } from '../../../support/until.ts';

const SHARDS = 12;
const { sqs, open } = await sharedTailing(SHARDS);

describe("a trigger's queue", () => {
  it('gets every cell of its columns once, in log order, with what is needed to fetch it', async () => {
    const tailed = await open([{ name: 'base', columns: ['BASE'] }, { name: 'all' }]);
    for (let shard = 0; shard < SHARDS; shard += 1) {
      await tailed.write(shard, 3);
      await tailed.write(shard, 2, 'STATUS');
    }
    const tailer = startTailer(sqs, tailed);
    const [base, all] = [tailed.trigger('base'), tailed.trigger('all')];
    for (let shard = 0; shard < SHARDS; shard += 1) await tailed.write(shard, 2);
    await until(
      'all is received',
      async () => (await base.receive()).length >= 5 * SHARDS && (await all.receive()).length >= 7 * SHARDS,
    );
    await hasPolled(tailer, tailed, 'all');
    await tailer.stop();
    await Promise.all([base.receive(), all.receive()]);
    for (let shard = 0; shard < SHARDS; shard += 1) {
      expect(idsOf(base.received, shard)).toEqual([1, 2, 3, 6, 7]);
      expect(idsOf(all.received, shard)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    }
    const [first] = all.received;
    const [log] = await tailed.trips.log([{ shard: first?.shard ?? 0, after: 0 }], { limit: 1 });
    const [cell] = log && 'cells' in log ? log.cells : [];
    const { group, ...message } = first ?? { group: '' };
    expect(message).toEqual({
      datastore: tailed.datastore,
      trigger: 'all',
      shard: Number(group),
      added_id: 1,
      row_key: cell?.row_key,
      column_name: 'BASE',
      ref_key: cell?.ref_key,
      created_at: cell?.created_at,
      replay: false,
      generation: 0,
    });
    expect(cellsOf(tailer, 'sent')).toBe(12 * SHARDS);
  });

  it("of one trigger is none of another's: a paused one waits, and its queue gets nothing until it is resumed", async () => {
    const tailed = await open([{ name: 'paused' }, { name: 'other' }]);
    const [paused, other] = [tailed.trigger('paused'), tailed.trigger('other')];
    await paused.store.setState('paused', 'by hand');
    await tailed.write(1, 30);
    const tailer = startTailer(sqs, tailed);
    await other.gets(30);
    await hasPolled(tailer, tailed, 'paused');
    expect(await paused.receive()).toEqual([]);
    expect(tailer.events.filter(({ kind }) => kind === 'held_back')).toMatchObject([
      { trigger: 'paused', why: 'it is paused: by hand' },
    ]);
    await paused.store.resume();
    await paused.gets(30);
    await paused.store.setState('stopped', 'too many');
    await until('it is held back again', () =>
      tailer.events.some((event) => event.kind === 'held_back' && event.why === 'it is stopped: too many'),
    );
    await tailed.write(1, 5);
    await other.gets(35);
    await hasPolled(tailer, tailed, 'paused');
    expect(await paused.receive()).toHaveLength(30);
    await paused.store.resume();
    await paused.gets(35);
    await tailer.stop();
    expect(idsOf(paused.received, 1)).toEqual(Array.from({ length: 35 }, (_, at) => at + 1));
  });

  it('gets cells again after a rewind, within five minutes too, marked as replays; newer ones are not', async () => {
    const tailed = await open([{ name: 'rewound' }]);
    const rewound = tailed.trigger('rewound');
    const tailer = startTailer(sqs, tailed);
    for (let shard = 0; shard < SHARDS; shard += 1) await tailed.write(shard, 4);
    await rewound.gets(4 * SHARDS);
    const operations = await tailed.operations();
    await operations.rewindTrigger({ trigger: 'rewound', to: { 2: 1, 5: 0 } });
    await rewound.gets(4 * SHARDS + 3 + 4);
    await tailed.write(2, 2);
    await rewound.gets(4 * SHARDS + 3 + 4 + 2);
    await tailer.stop();
    const again = rewound.received.slice(4 * SHARDS);
    const seen = (shard: number) =>
      again.filter((one) => one.shard === shard).map(({ added_id, replay }) => `${added_id}${replay ? ' again' : ''}`);
    expect(seen(2)).toEqual(['2 again', '3 again', '4 again', '5', '6']);
    expect(seen(5)).toEqual(['1 again', '2 again', '3 again', '4 again']);
  });
});
