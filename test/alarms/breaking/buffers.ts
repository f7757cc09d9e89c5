import { encodeBody } from '../../../shared/body/codec.ts';
import { rowKeyBytes } from '../../../shared/address.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { asBound, copyOf } from '../../support/copy-of.ts';
import type { AlarmWorld } from '../alarm-world.ts';
import type { AlarmCase } from '../ring.ts';

const cellOf = (row_key: string, name: string): NewCell => ({
  row_key,
  column_name: 'BASE',
  ref_key: 1,
  body: { name },
});

async function putBuffered(world: AlarmWorld, row: string, name: string): Promise<void> {
  await world.insist(async () => {
    const { outcome } = await world.once('trips').tryPut(cellOf(row, name));
    if (outcome !== 'buffered') throw new Error(`wanted it to be buffered, got ${outcome}`);
  });
}

async function discardConflicts(world: AlarmWorld): Promise<void> {
  await world.insist(async () => {
    const { conflicts } = await world.of('trips').listBufferConflicts();
    if (conflicts.length === 0) throw new Error('wanted kept conflicts, got none');
    await world.of('trips').discardBufferConflicts({ ids: conflicts.map(({ id }) => id) });
  });
}

export const writerHangs = (group: string): AlarmCase => ({
  sections: ['buffer-oldest'],
  fault: 'a writer hangs, and a write waits for it',
  fix: 'npm run local -- promote',
  withinMinutes: 15,
  async breaks(world) {
    const { row } = await world.rowIn(group);
    await world.local('pause', world.writerOf(group));
    await putBuffered(world, row, 'waits');
    return () => world.local('promote', group);
  },
});

export const damagedRow = (holder: string, home: string): AlarmCase => ({
  sections: ['buffer-parked'],
  fault: 'bytes of a buffered row are damaged',
  fix: 'the row is deleted',
  async breaks(world) {
    const { row, shard } = await world.rowIn(home);
    const key = Buffer.from(rowKeyBytes(row));
    await world.sql(
      holder,
      "INSERT INTO schemaless.buffer (datastore, shard, row_key, column_name, ref_key, body, body_hash, created_at, writers, answered) VALUES ('trips', ?, ?, 'BASE', 1, ?, ?, SYSDATE(6), 'a writer', 'a writer')",
      [shard, key, Buffer.from(encodeBody({})), Buffer.alloc(32)],
    );
    return () => world.sql(holder, 'DELETE FROM schemaless.buffer WHERE row_key = ?', [key]);
  },
});

export const twoBodies = (group: string): AlarmCase => ({
  sections: ['buffer-conflicts'],
  fault: 'two bodies are buffered for one address while its writer hangs',
  fix: 'POST …/buffer/conflicts/discard',
  async breaks(world) {
    const { row } = await world.rowIn(group);
    const writer = world.writerOf(group);
    await world.local('pause', writer);
    try {
      for (const body of ['one', 'other']) await putBuffered(world, row, body);
    } finally {
      await world.local('resume', writer);
    }
    return () => discardConflicts(world);
  },
});

export const bodiesInDoubt = (group: string, holder: string): AlarmCase => ({
  sections: ['buffer-in-doubt'],
  fault: 'a promoted writer has neither of two bodies whose writers died',
  fix: 'POST …/buffer/in-doubt/keep',
  async breaks(world) {
    const { row, shard } = await world.rowIn(group);
    await world.local('pause', world.writerOf(group));
    const copies = ['one', 'other'].map((name) => copyOf(cellOf(row, name), shard));
    const { sql, parameters } = insertBuffered('trips', copies);
    await world.sql(holder, sql, asBound(parameters));
    await world.local('promote', group);
    return async () => {
      const { in_doubt } = await world.of('trips').listWritesInDoubt();
      await world.of('trips').keepWritesInDoubt({ ids: in_doubt.slice(0, 1).map(({ id }) => id) });
      // The other one is kept as a conflict.
      await discardConflicts(world);
    };
  },
});
