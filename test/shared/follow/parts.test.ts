import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  withCheckpoint,
  type Checkpoint,
  decodeCheckpoints,
  decodeOffsets,
  encodeCheckpoints,
  encodeOffsets,
  type ShardOffset,
  fingerprintOf,
} from '../../../shared/follow/offsets.ts';
import { erasureAddress, type ErasureTarget } from '../../../shared/address.ts';
import { followShards, type FollowWork } from '../../../shared/follow/follow-shards.ts';
import type { Follower } from '../../../shared/follow/follower.ts';
import { giveCells } from '../../../shared/follow/give-cells.ts';
import type { HeldPartition } from '../../../shared/follow/held-partition.ts';
import { heldShard } from '../../../shared/follow/held-shard.ts';
import { unread } from '../../../shared/follow/start-offsets.ts';
import type { StoredLogEntry } from '../../../shared/sql/statements/select-log-entries.ts';
import { assignmentOf, type Worker } from '../../../shared/follow/workers.ts';

const fingerprint = '0123456789abcdef';
const addedId = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 1 });

describe('offsets and checkpoints', () => {
  it('are the same after being encoded', () => {
    const offset = fc.option(
      fc
        .record({ added_id: addedId, epoch: fc.nat(), behind: fc.option(fc.nat()) })
        .map(({ added_id, epoch, behind }) => ({
          added_id,
          epoch,
          fingerprint,
          ...(behind !== null && { given: Math.max(0, added_id - behind) }),
        })),
      { nil: undefined },
    );
    fc.assert(
      fc.property(
        fc.array(offset),
        (offsets) => void expect(decodeOffsets(encodeOffsets(offsets), offsets.length)).toEqual(offsets),
      ),
    );
    const ids = fc
      .uniqueArray(addedId, { maxLength: 17 })
      .map((some) => some.sort((one, other) => one - other).map((added_id) => ({ added_id, fingerprint })));
    fc.assert(
      fc.property(
        fc.array(ids),
        (shards) => void expect(decodeCheckpoints(encodeCheckpoints(shards), shards.length)).toEqual(shards),
      ),
    );
  });

  it('of an item that is not there yet are none', () => {
    expect(decodeOffsets(undefined, 2)).toEqual([undefined, undefined]);
    expect(decodeCheckpoints(undefined, 2)).toEqual([[], []]);
    expect(decodeOffsets(encodeOffsets([{ added_id: 0, fingerprint: '', epoch: 3 }, undefined]), 2)).toEqual([
      { added_id: 0, fingerprint: '', epoch: 3 },
      undefined,
    ]);
  });

  it('of 64 shards take 1 KB, and 14 KB', () => {
    const added_id = 5_000_000;
    const ring = Array.from({ length: 17 }, (_, position) => ({ added_id: added_id * (position + 1), fingerprint }));
    expect(
      encodeOffsets(Array.from({ length: 64 }, () => ({ added_id, fingerprint, epoch: 200, given: added_id - 100 })))
        .length,
    ).toBeLessThan(1024);
    expect(encodeCheckpoints(Array.from({ length: 64 }, () => ring)).length).toBeLessThan(14 * 1024);
  });
});

describe('the checkpoints of a shard', () => {
  it('are at most 17, and never far beyond any point to go back to', () => {
    const most = 20;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: most }), { minLength: 1, maxLength: 500 }), (steps) => {
        let ring: Checkpoint[] = [];
        const visited: number[] = [];
        for (const step of steps) {
          const added_id = (visited.at(-1) ?? 0) + step;
          visited.push(added_id);
          ring = withCheckpoint(ring, { added_id, fingerprint });
        }
        expect(ring.length).toBeLessThanOrEqual(11);
        const newest = visited.at(-1) ?? 0;
        // However many cells are lost: how far back the next checkpoint is.
        for (let lost = 1; lost <= newest - (visited[0] ?? 0); lost += 1) {
          const back = ring.findLast(({ added_id }) => added_id <= newest - lost);
          expect(newest - (back?.added_id ?? Number.NEGATIVE_INFINITY)).toBeLessThanOrEqual(
            Math.max(9 * lost, lost + most),
          );
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('a fingerprint', () => {
  it('is another one when any part of the cell is, or the cell was appended again', () => {
    const cell = {
      added_id: 1,
      row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0',
      column_name: 'BASE',
      ref_key: 1,
      created_at: '2026-01-01T00:00:00.000001Z',
    };
    const others = [
      cell,
      { ...cell, ref_key: 2 },
      { ...cell, column_name: 'BASF' },
      { ...cell, row_key: '7e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0' },
      { ...cell, created_at: '2026-01-01T00:00:00.000002Z' },
    ];
    expect(new Set(others.map(fingerprintOf)).size).toBe(others.length);
    expect(fingerprintOf(cell)).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe('shares', () => {
  const worker = (owner: string, number: number, slot = owner): Worker => ({ owner, number, slot, ready: false });

  it('cover every partition once, evenly, whatever the workers', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 20 }),
        (partitions, owners) => {
          const living = owners.map((owner, at) => worker(owner, at + 1));
          const shares = owners.map((owner) => assignmentOf(partitions, living, owner).mine);
          expect(shares.flat().sort((one, other) => one - other)).toEqual(
            Array.from({ length: partitions }, (_, partition) => partition),
          );
          const sizes = shares.map(({ length }) => length);
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  it('go from a worker to the newest of its slot, unchanged', () => {
    const before = [worker('a', 1, '0'), worker('b', 2, '1')];
    const after = [...before, worker('c', 3, '1'), worker('d', 4, '1')];
    expect(assignmentOf(8, after, 'd').mine).toEqual(assignmentOf(8, before, 'b').mine);
    expect(assignmentOf(8, after, 'a').mine).toEqual(assignmentOf(8, before, 'a').mine);
    expect(assignmentOf(8, after, 'b')).toMatchObject({ mine: [], successor: { owner: 'd' } });
    expect(assignmentOf(8, before, 'stranger').mine).toEqual([]);
  });
});

describe('giving cells', () => {
  const row_key = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
  const entry = (added_id: number, column_name: string) => ({
    added_id,
    column_name,
    row_key,
    ref_key: added_id,
    created_at: '2026-01-01T00:00:00.000001Z',
  });
  const entries = [entry(4, 'NOTES'), entry(5, 'BASE'), entry(6, 'NOTES'), entry(7, 'BASE'), entry(8, 'NOTES')];
  const follower = (handle: Follower['handle'], columns = ['BASE']): Follower => ({
    name: 'f',
    datastore: 'd',
    start: 'start',
    columns,
    handle,
  });
  const giveTo = (to: Follower, some: readonly StoredLogEntry[] = entries) =>
    giveCells(to, 'group-1', [{ shard: 3, generation: 0, entries: some }]);
  const give = (done: number | undefined) =>
    giveTo(follower(async () => new Map(done === undefined ? [] : [[3, done]])));

  it('moves the offset over cells of other columns, up to the first wanted one that is not done', async () => {
    expect(await give(7)).toEqual([{ count: 5, given: 7 }]);
    expect(await give(5)).toEqual([{ count: 3, given: 5 }]);
    expect(await give(undefined)).toEqual([{ count: 1, given: undefined }]);
  });

  it('gives what is erased of the columns that are wanted, of rows too, in its place', async () => {
    const erasure = (added_id: number, target: Omit<ErasureTarget, 'row_key'>) => ({
      ...entry(added_id, ''),
      ...erasureAddress({ row_key, ...target }),
    });
    const given: number[] = [];
    await giveTo(
      follower(async (_group, cells) => {
        given.push(...cells.map(({ added_id }) => added_id));
        return new Map();
      }),
      [
        erasure(4, {}),
        entry(5, 'BASE'),
        erasure(6, { column_name: 'NOTES' }),
        erasure(7, { column_name: 'BASE', up_to: 5 }),
        erasure(8, { column_name: 'BASE', ref_key: 1 }),
      ],
    );
    expect(given).toEqual([4, 5, 7, 8]);
  });

  it('refuses added ids that were not given', async () => {
    await expect(give(9)).rejects.toThrow('wanted an added id that was given to it, got 9 of shard 3');
  });

  it('calls no handler for cells of unwanted columns', async () => {
    const handle = (): Promise<never> => Promise.reject(new Error('asked'));
    expect(await giveTo(follower(handle, ['STATUS']))).toEqual([{ count: 5, given: undefined }]);
  });

  it.each([
    ['a cell of its columns', 'BASE', 1300],
    ['cells of other columns, which do not keep it awake', 'NOTES', Number.NEGATIVE_INFINITY],
  ])('expects more of a shard for a while behind %s', async (_what, column, busyUntil) => {
    const held = heldShard(0, unread(0));
    const moved: (number | undefined)[] = [];
    const partition = {
      move: (_held: unknown, { added_id }: ShardOffset) => void moved.push(added_id),
      tenure: () => ({ token: 1, generation: 0 }),
    } as unknown as HeldPartition;
    const homes = [{ group: 'group-1', epoch: 1 }];
    const work = {
      follower: follower(async (_group, cells) => new Map(cells.map(({ shard, added_id }) => [shard, added_id]))),
      context: { topology: { datastore: async () => ({ datastore: 'd', shards: 1, homes }) } },
      readOf: () => 'writer',
      behindMs: 0,
      pageCells: 10,
      fetch: async () => ({ role: 'writer', found: [{ entries: [entry(1, column)], epoch: 1 }] }),
      now: () => 1000,
      report: () => undefined,
    } as unknown as FollowWork;
    expect(await followShards(work, 'group-1', [{ partition, held, tenure: partition.tenure() }])).toBe('some');
    expect([moved, held.busyUntil, held.readAt]).toEqual([[1], busyUntil, 1000]);
  });
});
