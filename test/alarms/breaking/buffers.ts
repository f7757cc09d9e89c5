import { encodeBody } from '../../../shared/body/codec.ts';
import { rowKeyBytes } from '../../../shared/address.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { copyOf } from '../../support/copy-of.ts';
import type { AlarmWorld } from '../alarm-world.ts';
import type { AlarmCase } from '../ring.ts';

async function putBuffered(world: AlarmWorld, row: string, name: string): Promise<void> {
  await world.insist(async () => {
    const { body } = await world.ask('PUT', `/trips/cells/${row}/BASE/1`, { name });
    if (body['outcome'] !== 'buffered') throw new Error(`wanted it to be buffered, got ${JSON.stringify(body)}`);
  });
}

async function discardConflicts(world: AlarmWorld): Promise<void> {
  await world.insist(async () => {
    const { conflicts } = await world.mustAsk('GET', '/trips/buffer/conflicts');
    const ids = (conflicts as readonly { readonly id: string }[]).map(({ id }) => id);
    if (ids.length === 0) throw new Error('wanted kept conflicts, got none');
    await world.mustAsk('POST', '/trips/buffer/conflicts/discard', { ids });
  });
}

export const writerHangs = (group: string): AlarmCase => ({
  sections: ['buffer-oldest'],
  fault: 'a writer hangs, and a write waits for it',
  cure: 'npm run local -- promote',
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
  cure: 'the row is deleted',
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
  cure: 'POST …/buffer/conflicts/discard',
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

export const undecidedBodies = (group: string, holder: string): AlarmCase => ({
  sections: ['buffer-undecided'],
  fault: 'a promoted writer has neither of two bodies whose writers died',
  cure: 'POST …/buffer/undecided/keep',
  async breaks(world) {
    const { row, shard } = await world.rowIn(group);
    await world.local('pause', world.writerOf(group));
    const cell = { row_key: row, column_name: 'BASE', ref_key: 1 };
    const copies = ['one', 'other'].map((name) => copyOf({ ...cell, body: { name } }, shard));
    const { sql, parameters } = insertBuffered('trips', copies);
    const bound = parameters.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));
    await world.sql(holder, sql, bound as readonly (string | number | Buffer)[]);
    await world.local('promote', group);
    return async () => {
      const { undecided } = await world.mustAsk('GET', '/trips/buffer/undecided');
      const [kept] = undecided as readonly { readonly id: string }[];
      await world.mustAsk('POST', '/trips/buffer/undecided/keep', { ids: [kept?.id] });
      // The other one is kept as a conflict.
      await discardConflicts(world);
    };
  },
});
