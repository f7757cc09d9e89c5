import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { StoreContext, StoreEvent } from '../../../shared/access/context.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import { maintainEntries } from '../../../shared/index/maintain-entries.ts';
import { concernedIndexes } from '../../../shared/index/rows-after.ts';
import { SqlError, type SqlChange, type Statement } from '../../../shared/sql/client.ts';
import { fakeTimeOfEach, passes } from '../../support/fake-time.ts';
import { indexOn } from '../../support/index-on.ts';

const DEADLINE_MS = 250;
const ROW = { row_key: randomUUID(), column_name: 'BASE', ref_key: 1, body: { city: 'Rome' }, shard: 0 };
const CELL = { ...ROW, encoded: encodeBody(ROW.body) };
/** Comes after twice the limit of the write. */
const late = <T>(end: (resolve: (value: T) => void, reject: (error: unknown) => void) => void): Promise<T> =>
  new Promise((resolve, reject) => setTimeout(end, 2 * DEADLINE_MS, resolve, reject)); // Clock: the faked one

const DONE: SqlChange = { affectedRows: 1, insertId: 1 };

let sent: Statement[];
let events: StoreEvent[];
let reachable: Promise<void>;
let answer: () => Promise<SqlChange>;
fakeTimeOfEach();
beforeEach(() => {
  [sent, events, reachable, answer] = [[], [], Promise.resolve(), async () => DONE];
});

const catalogues = [
  { name: 'by_city', versions: [{ state: 'live', hash: 'a1', definition: indexOn('by_city', { city: 'string' }) }] },
];
const client = {
  abilities: {},
  change: (statement: Statement) => {
    sent.push(statement);
    return answer();
  },
};
const context = {
  topology: {
    datastore: async () => ({ datastore: 'trips', shards: 1, homes: [{ group: 'group-1', epoch: 1 }] }),
    indexes: async () => catalogues,
    refresh: () => undefined,
  },
  groups: {
    client: async () => {
      await reachable;
      return client;
    },
  },
  report: (event: StoreEvent) => void events.push(event),
  found: { entries: new Map() },
} as unknown as StoreContext;

async function maintain(): Promise<void> {
  const indexes = await concernedIndexes(context.topology, 'trips', [CELL]);
  const cells = new Map([['BASE', [{ ref_key: 1, added_id: 1, body: CELL.encoded, createdAt: '' }]]]);
  const row = { row_key: ROW.row_key, shard: 0, columns: ['BASE'], written: [CELL] };
  await maintainEntries(context, 'trips', [CELL], { after: [{ indexes, states: [{ row, cells, epoch: 1 }] }] });
}

describe('the entries of a write', () => {
  it('are sent before it is answered', async () => {
    await maintain();
    expect([sent.length, events]).toEqual([1, []]);
  });

  it.each([
    ['while they are computed', () => (reachable = late((resolve) => resolve(undefined))), 0],
    [
      'while they are written, with an unknown end',
      () => (answer = () => late((_, reject) => reject(new SqlError('unclear', 'lost')))),
      1,
    ],
  ])('that are late, %s, are told before the answer, and nothing is sent after it', async (_when, hold, before) => {
    hold();
    const answered = maintain();
    await passes(DEADLINE_MS);
    await answered;
    const missed = [expect.objectContaining({ kind: 'index_missed' })];
    expect([sent.length, events]).toEqual([before, missed]);
    await passes(10 * DEADLINE_MS);
    expect([sent.length, events]).toEqual([before, missed]);
  });
});
