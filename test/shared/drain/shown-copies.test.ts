import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NewCell } from '../../../shared/cell.ts';
import { openHintDrain } from '../../../shared/drain/hint-drain.ts';
import { laneTurn } from '../../../shared/drain/drain-lane.ts';
import { recoverPrimary } from '../../../shared/drain/recover-primary.ts';
import { rowKeyBytes } from '../../../shared/address.ts';
import { SqlError, type SqlClient, type SqlFailure } from '../../../shared/sql/client.ts';
import { answerBuffered } from '../../../shared/sql/statements/change-buffered.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { PROTECTIONS } from '../../faults/without/protections.ts';
import { copyOf } from '../../support/copy-of.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { faults } from '../../support/faulty-client.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { select } from '../../support/plain-sql.ts';
import { buffer, promote, recordWriter, restored } from './support/promotion.ts';

const SHARDS = 6;
const broken = faults();
/** Statements whose first answer is lost, or which do not arrive, on each group. */
let lost:
  | { readonly part: string; readonly isDone: boolean; readonly times: number; readonly failure: SqlFailure }
  | undefined;
const losses = new Map<string, number>();
/** Off: a drain marks no copy as shown before it appends it. */
let marksShown = true;

const opened = await sharedTrips(SHARDS, {
  wrap: (client, group): SqlClient => {
    const wrapped = broken.wrap(client, group);
    return {
      ...wrapped,
      async change(statement) {
        if (!marksShown) return PROTECTIONS.showing(wrapped, () => undefined).change(statement);
        const times = losses.get(group) ?? 0;
        if (!lost || !statement.sql.includes(lost.part) || times >= lost.times) return wrapped.change(statement);
        losses.set(group, times + 1);
        if (lost.isDone) await wrapped.change(statement);
        throw new SqlError(lost.failure, 'the answer was lost');
      },
    };
  },
});
const { store, trips, name, primary, others, cellIn, bodyOf, hintHolder, holder } = opened;
const INSERT = 'INTO `schemaless`.buffer';

function lose(part: string, { isDone = true, times = 1, failure = 'unclear' as SqlFailure } = {}): void {
  lost = { part, isDone, times, failure };
  losses.clear();
}
beforeEach(() => recordWriter(opened));
afterEach(() => {
  marksShown = true;
  lost = undefined;
  broken.behaviours.clear();
});

/** Repeats the recovery, as the drain does, while a shard stays closed: a lock wait closes one for that time. */
async function recover(): Promise<void> {
  const closed = async () => {
    const recovery = await recoverPrimary(store.context, primary, { topologyTable: store.topologyTable });
    return recovery?.closed.filter(({ datastore }) => datastore === name) ?? [];
  };
  await expect.poll(closed).toEqual([]);
}
const drain = () => drainAtOnce(store.context, hintHolder);

/** The disk of the writer is lost, and the server that takes its place never had the cell. */
const loseDisk = (cell: NewCell) => promote(opened, [cell]);

async function bufferedWhile(behaviour: 'down' | 'lost-answers', body: string): Promise<NewCell> {
  const cell = cellIn(0, { body });
  broken.behaviours.set(primary, behaviour);
  expect((await trips.put(cell)).outcome).toBe('buffered');
  broken.behaviours.clear();
  return cell;
}

async function hintsOf({ row_key }: NewCell): Promise<readonly unknown[]> {
  const sql =
    "SELECT CONCAT(state, ' ', OCTET_LENGTH(writers) DIV 8, ' ', OCTET_LENGTH(answered) DIV 8) FROM schemaless.buffer WHERE row_key = ?";
  const rows = await Promise.all(others.map((group) => select(store.client(group), sql, rowKeyBytes(row_key))));
  return rows.flat(2);
}

describe('a cell that was answered `buffered` and then read', () => {
  it.each([
    ['the drain appended it', 'down', true],
    ['its append was done though both answers were lost', 'lost-answers', false],
  ] as const)('keeps its body when its writer is lost with its disk, where %s', async (_, behaviour, isDrained) => {
    const cell = await bufferedWhile(behaviour, 'seen');
    if (isDrained) await drain();
    expect(await bodyOf(cell)).toBe('seen');
    await loseDisk(cell);
    await recover();
    expect((await trips.put({ ...cell, body: 'another' })).outcome).toBe('conflict');
    expect(await bodyOf(cell)).toBe('seen');
  });

  it('loses it to another one where the drain does not mark its copy as shown: the control', async () => {
    const cell = await bufferedWhile('down', 'seen');
    marksShown = false;
    await drain();
    expect(await bodyOf(cell)).toBe('seen');
    await loseDisk(cell);
    await recover();
    expect((await trips.put({ ...cell, body: 'another' })).outcome).toBe('stored');
    expect(await bodyOf(cell)).toBe('another');
  });

  it('keeps it where the log was restored to a point in time, and its writer is lost then', async () => {
    const cell = await bufferedWhile('down', 'restored');
    await restored(opened);
    await recover();
    expect(await bodyOf(cell)).toBe('restored');
    await loseDisk(cell);
    await recover();
    expect(await bodyOf(cell)).toBe('restored');
  });
});

it('a cell that a recovery appended while its write was under way keeps its body, though the write is buffered then', async () => {
  const cell = cellIn(0, { body: 'under way' });
  const copy = copyOf(cell);
  await holder.change(insertBuffered(name, [copy]));
  await promote(opened);
  await recover();
  expect(await bodyOf(cell)).toBe('under way');
  await holder.change(answerBuffered(name, [copy]));
  await loseDisk(cell);
  await recover();
  expect(await bodyOf(cell)).toBe('under way');
});

it('a repeat in a batch that is stored keeps its body, also where one like it was buffered right before', async () => {
  // The hint holders are drawn at random.
  for (let round = 0; round < 8; round += 1) {
    await recordWriter(opened);
    const first = cellIn(0, { body: 'first' });
    const second = { ...first, body: 'second' };
    lose('.`entity`', { isDone: false, times: 4, failure: 'unreachable' });
    const results = await trips.batchPut([first, second, second]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['buffered', 'buffered', 'stored']);
    await loseDisk(first);
    await recover();
    for (const group of others) await drainAtOnce(store.context, group);
    expect(await bodyOf(first)).toBe('second');
  }
});

describe('a lost answer counts no writer of a copy twice', () => {
  it('to the copy: a write that was answered 409 leaves none', async () => {
    const cell = cellIn(0, { body: 'first' });
    expect((await trips.put(cell)).outcome).toBe('stored');
    lose(INSERT);
    expect((await trips.put({ ...cell, body: 'second' })).outcome).toBe('conflict');
    expect([...losses.values()]).toContain(1);
    // That of the first.
    expect(await hintsOf(cell)).toEqual(['waiting 1 0']);
  });

  it('to the copy: what was answered `buffered` does not stand against what was stored', async () => {
    lose(INSERT);
    const cell = await bufferedWhile('down', 'buffered');
    expect(new Set(await hintsOf(cell))).toEqual(new Set(['waiting 1 1']));
    for (const group of others) await buffer(opened, group, { ...cell, body: 'stored' });
    await promote(opened);
    await recover();
    expect(await bodyOf(cell)).toBe('stored');
  });

  it.each([
    ['did not arrive', false],
    ['lost its answer', true],
  ])('to the mark that %s: what was answered `buffered` is marked on every group', async (_, isDone) => {
    lose('SET answered', { isDone });
    const cell = await bufferedWhile('down', 'marked');
    expect([...losses.values()]).toEqual([1, 1]);
    expect(await hintsOf(cell)).toEqual(['waiting 1 1', 'waiting 1 1']);
  });

  it.each([
    ['did not arrive', false],
    ['lost its answer', true],
  ])('to the withdrawal that %s: a write that was answered 409 removes its own writer', async (_, isDone) => {
    const cell = cellIn(0, { body: 'first' });
    expect((await trips.put(cell)).outcome).toBe('stored');
    const second = { ...cell, body: 'second' };
    for (const group of others) await buffer(opened, group, second);
    lose('SET writers', { isDone });
    expect((await trips.put(second)).outcome).toBe('conflict');
    expect([...losses.values()]).toContain(1);
    // The first write's, and that of the other who sent the second body.
    expect(await hintsOf(cell)).toEqual(['waiting 1 0', 'waiting 1 0', 'waiting 1 0']);
  });
});

it('a copy whose datastore is not found for a moment is no faulty copy', async () => {
  const cell = await bufferedWhile('down', 'kept');
  for (let turn = 0; turn < 6; turn += 1) {
    let isKnown = true;
    const { topology } = store.context;
    const datastore: typeof topology.datastore = async (asked) => (isKnown ? topology.datastore(asked) : undefined);
    const context = { ...store.context, topology: { ...topology, datastore } };
    const drain = await openHintDrain(context, hintHolder, { minimumAgeSeconds: 0 });
    await drain.watch();
    isKnown = false;
    for (const lane of drain.lanes.values()) await laneTurn(lane);
    expect(drain.report()).toMatchObject({ failed: 0, appended: 0 });
  }
  expect(new Set(await hintsOf(cell))).toEqual(new Set(['waiting 1 1']));
});
