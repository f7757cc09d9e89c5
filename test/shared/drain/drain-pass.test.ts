import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { BufferedCell } from '../../../shared/sql/encoded-cell.ts';
import { rowKeyBytes, shardDatabase } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { drainAtOnce, drainPass } from '../../support/drain-pass.ts';
import { SqlError, type SqlClient, type SqlParameter } from '../../../shared/sql/client.ts';
import { answerBuffered } from '../../../shared/sql/statements/change-buffered.ts';
import { bodyHash, insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { PROTECTIONS } from '../../faults/without/protections.ts';
import { copyOf } from '../../support/copy-of.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { faults } from '../../support/faulty-client.ts';
import { SUITE_INDEXES } from '../../support/index-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { change, select } from '../../support/plain-sql.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';

const SHARDS = 6;
const YOUNG_ARE_LEFT = { minimumAgeSeconds: 30, appendsPerSecond: 1_000_000 };
const broken = faults();
/** A reader that shows nothing yet: hashes asked of a single node come back empty, but for whether it is the writer. */
let readersLag = false;
/**
 * A planned change of roles: the writer takes no writes any more, and the reader that is to be promoted does not
 * answer.
 */
let switchingOver = false;
let beforeChange: ((sql: string) => Promise<void>) | undefined;
let askedNodes = 0;
let parksRows = true;

function lagging(client: SqlClient): SqlClient {
  return {
    ...client,
    change: async (statement) => {
      await beforeChange?.(statement.sql);
      return (parksRows ? client : PROTECTIONS.parking(client)).change(statement);
    },
    select: async (statement, target) => {
      const rows = await client.select(statement, target);
      if (typeof target !== 'object') return rows;
      askedNodes += 1;
      if (switchingOver) {
        if (target.node > 0) throw new SqlError('unreachable', 'is being promoted');
        return rows.map((row) => (Number(row[0]) < 0 ? [row[0] ?? null, null] : row));
      }
      const isWriter = rows.some(([item, writable]) => Number(item) < 0 && writable !== null);
      return readersLag && !isWriter ? rows.filter(([item]) => Number(item) < 0) : rows;
    },
  };
}

const wrap = (client: SqlClient, group: string): SqlClient => broken.wrap(lagging(client), group);
const opened = await sharedTrips(SHARDS, { indexes: SUITE_INDEXES.slice(0, 1), wrap });
const { store, trips, name, primary, groupOf, clientOf, entity, cellIn, bodyOf, hintHolder, holder } = opened;
const database = `\`${shardDatabase(name, 0)}\``;

afterEach(() => {
  broken.behaviours.clear();
  readersLag = false;
  switchingOver = false;
  beforeChange = undefined;
});

const newCell = (body: NewCell['body'] = 'body') => cellIn(0, { body });
const changeCopy = ({ row_key }: NewCell, to: string, ...parameters: readonly SqlParameter[]) => {
  const copy = `UPDATE schemaless.buffer SET ${to} WHERE datastore = ? AND row_key = ?`;
  return change(holder, copy, ...parameters, name, rowKeyBytes(row_key));
};
const pass = () => drainAtOnce(store.context, hintHolder);

async function buffer(cells: readonly NewCell[], as: Partial<BufferedCell> = {}): Promise<void> {
  for (const cell of cells) await holder.change(insertBuffered(name, [{ ...copyOf(cell), ...as }]));
}

/** The same of writers that were answered `buffered`. */
async function answered(cells: readonly NewCell[]): Promise<void> {
  const writer = new Uint8Array(8);
  await buffer(cells, { writer });
  const copies = cells.map((cell) => ({ ...copyOf(cell), writer }));
  await holder.change(answerBuffered(name, copies));
}

async function waiting() {
  const group = (await trips.getBuffer()).groups.find((one) => one.group === hintHolder);
  if (!group || 'error' in group) throw new Error('no buffer');
  return group;
}

async function passUntil(rows: number): Promise<void> {
  await expect.poll(async () => (await pass(), (await waiting()).rows)).toBe(rows);
}
const drained = () => passUntil(0);

describe('the drain', () => {
  it.skipIf(WRITER_ONLY)(
    'appends what the primary lacks, keeps it while a reader lags, and deletes it once every reader shows it',
    async () => {
      const cells = [newCell(), newCell(), newCell()];
      await buffer(cells);
      readersLag = true;
      await pass();
      for (const cell of cells) expect(await bodyOf(cell)).toBe(cell.body);
      await pass();
      expect((await waiting()).rows).toBe(3);
      readersLag = false;
      await drained();
    },
  );

  it.each([
    ['deletes', 'stored', 'DELETE '],
    ['marks as a conflict', 'another body', "SET state = 'conflict'"],
  ])('%s no other write that got the id of one that it polled', async (_, body, statement) => {
    const [polled, other] = [newCell('stored'), newCell('other')];
    await trips.put(polled);
    await answered([{ ...polled, body }]);
    // As if a replica of the hint holder was promoted without the last rows of its buffer.
    let replaced = 0;
    beforeChange = async (sql) => {
      if (replaced > 0 || !sql.includes('.buffer') || !sql.includes(statement)) return;
      const encoded = encodeBody(other.body);
      const columns = 'row_key = ?, ref_key = ?, body = ?, body_hash = ?';
      const values = [rowKeyBytes(other.row_key), other.ref_key, encoded, bodyHash(encoded)];
      ({ affectedRows: replaced } = await changeCopy(polled, columns, ...values));
    };
    await expect.poll(async () => (await pass(), replaced)).toBe(1);
    expect((await trips.get(other)).cell).toBeNull();
    await drained();
    expect(await bodyOf(other)).toBe('other');
  });

  it('keeps the index entries of what it appends', async () => {
    const driver = randomUUID();
    const cell = newCell({ driver_uuid: driver });
    await buffer([cell]);
    await drained();
    const { entries } = await trips.query({ index: 'driver_index', where: { driver_uuid: driver } });
    expect(entries.map(({ row_key }) => row_key)).toEqual([cell.row_key]);
  });

  it.skipIf(WRITER_ONLY).each([
    ['a reader that is down', () => void broken.behaviours.set(primary, 'readers-down')],
    ['a silent node, though no node says that it is the writer', () => void (switchingOver = true)],
  ])('keeps a copy that may be lacked by %s, even if the writer has the cell', async (_what, fail) => {
    const cell = newCell();
    await trips.put(cell);
    await buffer([cell]);
    await expect.poll(async () => (await trips.get(cell, { read: 'reader' })).cell?.body).toBe(cell.body);
    fail();
    await pass();
    await pass();
    expect((await waiting()).rows).toBe(1);
    broken.behaviours.clear();
    switchingOver = false;
    await drained();
  });

  it('deletes a copy whose body the primary has in another encoding', async () => {
    const cell = newCell({ a: 1, b: 2 });
    await trips.put(cell);
    await buffer([{ ...cell, body: { b: 2, a: 1 } }]);
    await drained();
    expect((await waiting()).conflicts).toBe(0);
  });

  it('keeps what lost against another body as a conflict: listed, never appended, discarded on demand', async () => {
    const cell = newCell('winner');
    await trips.put(cell);
    await answered([{ ...cell, body: 'loser' }]);
    await drained();
    expect((await waiting()).conflicts).toBe(1);
    const id = expect.stringMatching(new RegExp(`^${hintHolder}/\\d+$`));
    const loser = { ...cell, body: 'loser', id, shard: 0, created_at: expect.any(String) };
    const listed = await trips.listBufferConflicts();
    expect(listed).toEqual({ conflicts: [loser], next: null });
    expect(await bodyOf(cell)).toBe('winner');
    await expect(trips.discardBufferConflicts({ ids: ['nonsense'] })).rejects.toMatchObject({
      code: 'invalid_field',
      field: 'ids[0]',
    });
    expect(await trips.discardBufferConflicts({ ids: listed.conflicts.map((one) => one.id) })).toEqual({
      discarded: 1,
    });
    expect((await trips.listBufferConflicts()).conflicts).toEqual([]);
  });

  it('stores the first of two bodies for one address and keeps the other', async () => {
    const cell = newCell('first');
    await answered([cell, { ...cell, body: 'second' }]);
    await drained();
    expect(await bodyOf(cell)).toBe('first');
    const { conflicts } = await trips.listBufferConflicts();
    expect(conflicts.map(({ body }) => body)).toEqual(['second']);
    await trips.discardBufferConflicts({ ids: conflicts.map(({ id }) => id) });
  });

  it('parks a row that cannot be decoded, is not what was buffered, or belongs nowhere, and goes on with the others', async () => {
    const [good, damaged] = [newCell(), newCell('as it was')];
    await buffer([damaged]);
    await changeCopy(damaged, 'body = ?', encodeBody('damaged'));
    await buffer([newCell()], { encoded: Buffer.from([1, 2, 3]) });
    await buffer([newCell()], { shard: 5 });
    await buffer([newCell()], { shard: 60 });
    await buffer([good]);
    for (let round = 0; round < 5; round += 1) await pass();
    await drained();
    expect(await waiting()).toMatchObject({ parked: 4 });
    expect([await bodyOf(good), await bodyOf(damaged)]).toEqual([good.body, undefined]);
    const counting =
      "SELECT COUNT(*), COUNT(last_error) FROM schemaless.buffer WHERE state = 'parked' AND datastore = ?";
    const [row] = await select(holder, counting, name);
    expect(row?.map(Number)).toEqual([4, 4]);
  });

  it('goes on with such a row for ever where it has no last attempt: the control', async () => {
    const { parked } = await waiting();
    await buffer([newCell()], { encoded: Buffer.from([1, 2, 3]) });
    parksRows = false;
    for (let round = 0; round < 6; round += 1) await pass();
    parksRows = true;
    expect(await waiting()).toMatchObject({ rows: 1, parked });
    await change(holder, "DELETE FROM schemaless.buffer WHERE datastore = ? AND state = 'waiting'", name);
  });

  it('leaves a row of a datastore that it does not find: it may be too new to be known', async () => {
    const strange = `${name}_new`;
    const row = copyOf({ ...newCell(), body: 'early' });
    await holder.change(insertBuffered(strange, [row]));
    for (let round = 0; round < 5; round += 1) await pass();
    const ofStrange = 'FROM schemaless.buffer WHERE datastore = ?';
    const left = await select(holder, `SELECT state, attempts ${ofStrange}`, strange);
    expect(left.map(([state, attempts]) => [state, Number(attempts)])).toEqual([['waiting', 0]]);
    await change(holder, `DELETE ${ofStrange}`, strange);
  });

  it('fetches no bodies of rows that only wait for a reader', async () => {
    await buffer(Array.from({ length: 5 }, () => newCell()));
    readersLag = true;
    await pass();
    broken.statements.length = 0;
    await pass();
    expect(broken.statements.filter(({ sql }) => sql.includes('body_hash, body, created_at'))).toEqual([]);
    readersLag = false;
    await drained();
  });

  it.skipIf(WRITER_ONLY)('checks a page of rows with one statement per node', async () => {
    const cells = Array.from({ length: 50 }, () => newCell());
    await trips.batchPut(cells);
    await expect.poll(async () => (await trips.batchGet(cells, { read: 'reader' })).every(Boolean)).toBe(true);
    await buffer(cells);
    askedNodes = 0;
    broken.statements.length = 0;
    await pass();
    const primaries = new Set(
      broken.statements.filter(({ target }) => typeof target === 'object').map(({ group }) => group),
    );
    // Rows of other test files wait in the same table: with many of them ours lie on two pages.
    const pages = broken.statements.filter(
      ({ group, sql }) => group === hintHolder && sql.includes('state =') && sql.includes('LIMIT'),
    ).length;
    expect(pages).toBeGreaterThan(0);
    expect(askedNodes).toBeGreaterThan(0);
    expect(askedNodes).toBeLessThanOrEqual(2 * primaries.size * Math.min(2, pages));
    await drained();
  });

  it('sets no write aside that the server refuses for a while: it is appended afterwards', async () => {
    const cells = [newCell('one'), newCell('two')];
    await buffer(cells);
    const before = (await waiting()).parked;
    await change(
      clientOf(0),
      `CREATE TRIGGER ${database}.refuses BEFORE INSERT ON ${entity(0)} FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused for a while'`,
    );
    for (let round = 0; round < 6; round += 1) await pass();
    expect(await waiting()).toMatchObject({ rows: 2, parked: before });
    const ofFirst = 'SELECT last_error FROM schemaless.buffer WHERE row_key = ?';
    const [row] = await select(holder, ofFirst, rowKeyBytes(cells[0]?.row_key ?? ''));
    expect(String(row?.[0])).toContain('refused for a while');
    await change(clientOf(0), `DROP TRIGGER ${database}.refuses`);
    await drained();
    for (const cell of cells) expect(await bodyOf(cell)).toBe(cell.body);
  });

  it('drains what belongs to the other shards of a primary that refuses a table', async () => {
    const [lost, well] = [newCell(), cellIn(3)];
    await buffer([lost]);
    await buffer([well], { shard: 3 });
    await change(clientOf(0), `RENAME TABLE ${entity(0)} TO ${database}.away`);
    await passUntil(1);
    expect(await bodyOf(well)).toEqual(well.body);
    await change(clientOf(0), `RENAME TABLE ${database}.away TO ${entity(0)}`);
    await drained();
    expect(await bodyOf(lost)).toBe(lost.body);
  });

  it('does not go by the times of rows, which are wrong where a clock was', async () => {
    const cell = newCell();
    await buffer([cell]);
    await changeCopy(cell, 'created_at = SYSDATE(6) + INTERVAL 1 HOUR');
    expect((await waiting()).oldest_age).toBe(0);
    await drained();
    expect(await bodyOf(cell)).toBe(cell.body);

    const young = newCell();
    await buffer([young]);
    await changeCopy(young, 'created_at = SYSDATE(6) - INTERVAL 1 HOUR');
    await drainPass(store.context, hintHolder, () => true, YOUNG_ARE_LEFT);
    expect((await waiting()).rows).toBe(1);
    await drained();
  });

  it('reaches the rows behind thousands of a primary that is unavailable within a few turns', async () => {
    const other = [0, 1, 2, 3, 4, 5].findIndex((shard) => ![primary, hintHolder].includes(groupOf(shard)));
    const many = rowsOfShard(0, SHARDS, 3000).map((row_key): BufferedCell => ({
      ...cellOf({ row_key }),
      shard: 0,
      encoded: encodeBody('unavailable'),
      writer: new Uint8Array(8),
    }));
    for (let start = 0; start < many.length; start += 500)
      await holder.change(insertBuffered(name, many.slice(start, start + 500)));
    const living = cellIn(other);
    await buffer([living], { shard: other });
    broken.behaviours.set(primary, 'down');
    // In the order in which they came it would be the turn of the last one.
    let turns = 0;
    await drainPass(store.context, hintHolder, () => (turns += 1) <= 10, {
      minimumAgeSeconds: 0,
      appendsPerSecond: 100,
    });
    expect(await bodyOf(living)).toEqual(living.body);
    await passUntil(many.length);
    broken.behaviours.clear();
    await change(holder, 'DELETE FROM schemaless.buffer WHERE datastore = ? AND shard = 0', name);
    await drained();
  });
});
