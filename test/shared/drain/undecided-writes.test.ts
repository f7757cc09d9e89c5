import { describe, expect, it } from 'vitest';
import type { NewCell } from '../../../shared/cell.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { recoverPrimary } from '../../../shared/drain/recover-primary.ts';
import { undecidedSince } from '../../../shared/drain/bring-back-shard.ts';
import { releaseOpened } from '../../../shared/drain/fenced-shards.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { copyOf } from '../../support/copy-of.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { promote, recordWriter } from './support/promotion.ts';

const SHARDS = 6;
const LIFE_MS = 1000;

const opened = await sharedTrips(SHARDS);
const { store, trips, name, primary, others, cellIn } = opened;
let clock = 0;
const since = undecidedSince(LIFE_MS, () => clock);
const newCell = (body: NewCell['body']) => cellIn(0, { body });
const bodyOf = async (cell: NewCell) => (await trips.get(cell)).cell?.body;
const recover = () => recoverPrimary(store.context, primary, { since });
const sumOf = async (what: 'undecided' | 'conflicts') =>
  (await trips.getBuffer()).groups.reduce((sum, group) => sum + ('error' in group ? Number.NaN : group[what]), 0);

async function contested(): Promise<NewCell> {
  const cell = newCell('one');
  for (const [position, body] of ['one', 'other'].entries())
    await store.client(others[position] ?? '').change(insertBuffered(name, [copyOf({ ...cell, body })]));
  await promote(opened);
  return cell;
}

describe('two bodies at one address whose writers died', () => {
  it('are reported once no request can be under way any more, and stored as an operator says; the shard is closed until then', async () => {
    const cell = await contested();
    expect(await recover()).toMatchObject({ appended: 0, closed: [{ shard: 0 }] });
    clock += LIFE_MS - 1;
    await recover();
    expect((await trips.listUndecidedWrites()).undecided).toEqual([]);
    clock += 1;
    store.events.length = 0;
    await recover();
    await recover();
    const { row_key, column_name, ref_key } = cell;
    expect(store.events.filter(({ kind }) => kind === 'undecided')).toEqual([
      { kind: 'undecided', datastore: name, shard: 0, row_key, column_name, ref_key },
    ]);
    const { undecided, next } = await trips.listUndecidedWrites();
    expect(undecided.map(({ body }) => body).sort()).toEqual(['one', 'other']);
    expect([next, await sumOf('undecided')]).toEqual([null, 2]);
    expect((await trips.put(newCell('meanwhile'))).outcome).toBe('buffered');
    expect(await bodyOf(cell)).toBeUndefined();

    await expect(trips.keepUndecidedWrites({ ids: undecided.map(({ id }) => id) })).rejects.toMatchObject({
      code: 'invalid_field',
      details: { field: 'ids' },
    });
    await expect(trips.keepUndecidedWrites({ ids: ['nonsense'] })).rejects.toMatchObject({
      code: 'invalid_field',
      details: { field: 'ids[0]' },
    });
    const kept = undecided.find(({ body }) => body === 'other');
    expect(await trips.keepUndecidedWrites({ ids: [kept?.id ?? ''] })).toEqual({ kept: 1 });
    expect(await recover()).toMatchObject({ appended: 1, opened: 1, closed: [] });
    expect(await bodyOf(cell)).toBe('other');
    expect((await trips.put(newCell('afterwards'))).outcome).toBe('stored');

    await expect
      .poll(async () => {
        for (const group of others) {
          await releaseOpened(store.context, group);
          await drainAtOnce(store.context, group);
        }
        return [await sumOf('undecided'), await sumOf('conflicts')];
      })
      .toEqual([0, 1]);
    const { conflicts } = await trips.listBufferConflicts();
    expect(conflicts.map(({ body }) => body)).toEqual(['one']);
    await trips.discardBufferConflicts({ ids: conflicts.map(({ id }) => id) });
  });

  it('go back to the drain where the former writer, which has all that was acknowledged, is back', async () => {
    const cell = await contested();
    await recover();
    clock += LIFE_MS;
    await recover();
    expect(await sumOf('undecided')).toBe(2);
    await recordWriter(opened);
    for (const group of others) await releaseOpened(store.context, group);
    expect(await sumOf('undecided')).toBe(0);
    for (const group of others) await drainAtOnce(store.context, group);
    expect(await bodyOf(cell)).toBeDefined();
  });
});
