import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readPages } from './read-pages.ts';
import { transactions } from './transaction-conformance.ts';
import { EMPTY_DIGEST } from '../../shared/body/log-digest.ts';
import { LIMITS, type Cell, type Json, type Location, type NewCell } from '../../shared/cell.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { shardOf } from '../../shared/address.ts';
import type { Datastore, ShardLog } from '../../shared/contract/datastore.ts';

/** The datastores of a suite. Both may hold cells already, and others may write to them during the suite. */
interface Subject {
  readonly first: Datastore;
  /** Another datastore of the same deployment, with another shard count; without it, tests of two are skipped. */
  readonly second?: Datastore;
}

/** A cell with defaults; tests name only what they are about. */
export function cellOf(cell: Partial<NewCell> = {}): NewCell {
  return { row_key: randomUUID(), column_name: 'BASE', ref_key: 1, body: { some: 'body' }, ...cell };
}

export function rowsOfShard(shard: number, shards: number, count: number): string[] {
  const rows: string[] = [];
  while (rows.length < count) {
    const row = randomUUID();
    if (shardOf(row, shards) === shard) rows.push(row);
  }
  return rows;
}

/** The error that a call ends with; fails when it ends well. */
export async function errorOf(call: () => Promise<unknown>): Promise<SchemalessError> {
  try {
    await call();
  } catch (error) {
    if (error instanceof SchemalessError) return error;
    throw error;
  }
  throw new Error('wanted an error, got an answer');
}

/** The contract of a datastore. Every implementation passes all of it. */
export function describeDatastore(label: string, open: () => Promise<Subject>): void {
  describe(`${label}: a datastore`, async () => {
    const { first, second } = await open();
    writing(first, second);
    batches(first);
    transactions(first);
    bodies(first);
    reading(first);
    logs(second ?? first);
    digests(first);
    badInput(first);
  });
}

function writing(first: Datastore, second?: Datastore): void {
  it('stores a cell once, and says so when it is put again', async () => {
    const cell = cellOf({ body: { fare: 12.5, tags: ['a', 'b'] } });
    const stored = await first.put(cell);
    expect(stored).toMatchObject({ outcome: 'stored', shard: shardOf(cell.row_key, first.shards) });
    const { cell: found } = await first.get(cell);
    expect(await first.put({ ...cell, body: { tags: ['a', 'b'], fare: 12.5 } })).toEqual({
      ...stored,
      outcome: 'stored_before',
      created_at: found?.created_at,
    });
    expect(found).toMatchObject({
      ...cell,
      shard: stored.shard,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    });
  });

  it.each(['BASE', 'NOTES'])('says when a cell of %s was stored, or leaves it out', async (column_name) => {
    const row_key = randomUUID();
    const cells = [7, 3, 5].map((ref_key) => cellOf({ row_key, column_name, ref_key, body: { ref_key } }));
    const [latest = cellOf()] = cells;
    const results = [await first.put(latest), ...(await first.batchPut([...cells, { ...latest, body: 'another' }]))];
    const outcomes = ['stored', 'stored_before', 'stored', 'stored', 'conflict'];
    expect(results.map(({ outcome }) => outcome)).toEqual(outcomes);
    for (const [position, cell] of [latest, ...cells].entries()) {
      const { created_at } = { created_at: undefined, ...results[position] };
      const found = (await first.get(cell)).cell?.created_at;
      expect(outcomes[position] === 'stored' && created_at === undefined ? found : created_at).toBe(found);
    }
    expect(results.at(-1)).not.toHaveProperty('created_at');
  });

  it('refuses another body at the same address and changes nothing', async () => {
    const cell = cellOf({ body: 1 });
    await first.put(cell);
    expect(await first.put({ ...cell, body: 2 })).toMatchObject({ outcome: 'conflict' });
    expect((await first.get(cell)).cell?.body).toBe(1);
  });

  it('tells 0 from false, null, "" and [] when comparing bodies', async () => {
    const values: Json[] = [0, false, null, '', [], {}, '0', [0]];
    for (const value of values) {
      const cell = cellOf({ body: value });
      await first.put(cell);
      for (const other of values)
        expect((await first.put({ ...cell, body: other })).outcome).toBe(
          other === value ? 'stored_before' : 'conflict',
        );
    }
  });

  it('lets exactly one of several racing bodies win', async () => {
    const cell = cellOf();
    const results = await Promise.all(Array.from({ length: 8 }, (_, body) => first.put({ ...cell, body })));
    const winner = results.findIndex(({ outcome }) => outcome === 'stored');
    expect(results.filter(({ outcome }) => outcome === 'stored')).toHaveLength(1);
    expect(results.filter(({ outcome }) => outcome === 'conflict')).toHaveLength(7);
    expect((await first.get(cell)).cell?.body).toBe(winner);
  });

  it('takes row keys in either case and answers in lower case', async () => {
    const cell = cellOf();
    await first.put({ ...cell, row_key: cell.row_key.toUpperCase() });
    expect((await first.get(cell)).cell?.row_key).toBe(cell.row_key);
  });

  it('compares column names byte for byte', async () => {
    const row_key = randomUUID();
    const odd = ['Ba\u0301SE', 'BASE\u0000', "it's", 'x'.repeat(255), '🚕', '\uFEFFBASE'];
    const names = ['BASE', 'base', 'BÁSE', 'BASE ', ...odd];
    for (const [body, column_name] of names.entries())
      expect((await first.put(cellOf({ row_key, column_name, body }))).outcome).toBe('stored');
    for (const [body, column_name] of names.entries())
      expect((await first.get(cellOf({ row_key, column_name }))).cell).toMatchObject({ column_name, body });
    expect(new Set((await first.row(row_key)).cells.map(({ column_name }) => column_name))).toEqual(new Set(names));
  });

  it('takes ref keys from 0 to 2^53-1', async () => {
    const row_key = randomUUID();
    for (const ref_key of [0, LIMITS.refKey]) {
      await first.put(cellOf({ row_key, ref_key }));
      expect((await first.get(cellOf({ row_key, ref_key }))).cell?.ref_key).toBe(ref_key);
    }
  });

  it('isolates datastores', async ({ skip }) => {
    if (second === undefined) return skip('there is one datastore to write to');
    const cell = cellOf({ body: 'first' });
    await first.put(cell);
    expect((await second.get(cell)).cell).toBeNull();
    expect(await second.put({ ...cell, body: 'second' })).toMatchObject({
      outcome: 'stored',
      shard: shardOf(cell.row_key, second.shards),
    });
    expect((await first.get(cell)).cell?.body).toBe('first');
  });
}

function batches(first: Datastore): void {
  it('answers a batch put in order, each cell for itself', async () => {
    const there = cellOf({ body: 'there' });
    await first.put(there);
    const cells = [cellOf(), there, { ...there, body: 'other' }, cellOf({ column_name: 'NOTES' })];
    expect((await first.batchPut(cells)).map(({ outcome }) => outcome)).toEqual([
      'stored',
      'stored_before',
      'conflict',
      'stored',
    ]);
    expect((await first.get(there)).cell?.body).toBe('there');
  });

  it('settles the same address twice in one batch as if one came after the other', async () => {
    const cell = cellOf({ body: { a: 1, b: 2 } });
    const taken = cellOf({ body: 'taken' });
    await first.put(taken);
    const outcomes = await first.batchPut([
      cell,
      { ...cell, body: { b: 2, a: 1 } },
      { ...cell, body: 'other' },
      { ...taken, body: 'lost' },
      taken,
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      'stored',
      'stored_before',
      'conflict',
      'conflict',
      'stored_before',
    ]);
  });

  it('numbers the cells of a batch in their order within a shard', async () => {
    const row_key = randomUUID();
    const results = await first.batchPut(
      Array.from({ length: 100 }, (_, ref_key) => cellOf({ row_key, ref_key, body: ref_key })),
    );
    const ids = results.map((result) => (result.outcome === 'stored' ? result.added_id : Number.NaN));
    expect(ids).toEqual(ids.map((_, position) => (ids[0] ?? 0) + position));
  });

  it('gets cells and latest cells in the order asked for, null where none is', async () => {
    const old = cellOf({ body: 'old' });
    const latest = { ...old, ref_key: 7, body: 'latest' };
    const other = cellOf({ body: 'other' });
    await first.batchPut([old, latest, other]);
    const found = await first.batchGet([old, { row_key: old.row_key, column_name: 'BASE' }, cellOf(), other, old]);
    expect(found.map((item) => item && ('error' in item ? item.error : item.body))).toEqual([
      'old',
      'latest',
      null,
      'other',
      'old',
    ]);
  });

  it('answers empty batches', async () => {
    expect(await first.batchPut([])).toEqual([]);
    expect(await first.batchGet([])).toEqual([]);
  });
}

/** JSON values that careless stores change. */
const AWKWARD: readonly Json[] = [
  [null, true, false, 0, -1, 1.5, 1e-7, 1e21, -0.1, 9007199254740991, 9007199254740993n, -9223372036854775808n],
  [18446744073709551615n, '', 'é', 'e\u0301', '🚕', '\u0000\u0001\u001f"\\/', '\u2028\u2029', ' ', '__proto__'],
  ['2026-01-01T00:00:00Z', 'x'.repeat(70_000), [], {}, [[]], [null], { '': 1 }, { a: { b: { c: [1, { d: null }] } } }],
  [
    { constructor: 1, toString: 2, hasOwnProperty: 3 },
    { 'key with "quotes"': 1, schlüssel: 2 },
  ],
  [JSON.parse('{"__proto__": {"polluted": true}, "a": [{"__proto__": 1}]}') as Json],
  [Array.from({ length: 1000 }, (_, i) => ({ i, half: i / 2, text: `item ${i}` }))],
].flat();

function bodies(first: Datastore): void {
  it('gives back equal JSON for every awkward value', async () => {
    for (const body of AWKWARD) {
      const cell = cellOf({ body });
      expect((await first.put(cell)).outcome).toBe('stored');
      const found = (await first.get(cell)).cell;
      expect(found?.body).toEqual(body);
      expect((await first.put(cell)).outcome).toBe('stored_before');
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('keeps the deepest nesting that it takes, and refuses one more', async () => {
    const nested = (depth: number): Json => (depth === 0 ? 1 : [nested(depth - 1)]);
    const cell = cellOf({ body: nested(LIMITS.bodyDepth) });
    await first.put(cell);
    expect((await first.get(cell)).cell?.body).toEqual(cell.body);
    expect((await errorOf(() => first.put(cellOf({ body: nested(LIMITS.bodyDepth + 1) })))).status).toBe(400);
  });

  it('takes a body of 1 MiB and refuses one byte more', async () => {
    const cell = cellOf({ body: 'x'.repeat(LIMITS.bodyBytes - 2) });
    expect((await first.put(cell)).outcome).toBe('stored');
    expect((await first.get(cell)).cell?.body).toBe(cell.body);
    expect((await errorOf(() => first.put(cellOf({ body: 'x'.repeat(LIMITS.bodyBytes - 1) })))).code).toBe(
      'body_too_large',
    );
  });
}

function reading(first: Datastore): void {
  it('answers null for what is not there', async () => {
    expect(await first.get(cellOf())).toMatchObject({ cell: null, served_by: 'writer', stale: false });
    expect((await first.getLatest(cellOf())).cell).toBeNull();
    expect((await first.versions(cellOf())).cells).toEqual([]);
    expect(await first.row(randomUUID())).toMatchObject({ cells: [], next: null });
  });

  it('takes the highest ref key as the latest, whatever came last', async () => {
    const row_key = randomUUID();
    for (const ref_key of [5, 9, 2]) await first.put(cellOf({ row_key, ref_key, body: ref_key }));
    expect((await first.getLatest({ row_key, column_name: 'BASE' })).cell?.ref_key).toBe(9);
  });

  it('lists versions newest first or oldest first, page by page', async () => {
    const row_key = randomUUID();
    await first.batchPut([3, 1, 4, 0, 5, 9].map((ref_key) => cellOf({ row_key, ref_key, body: ref_key })));
    await first.put(cellOf({ row_key, column_name: 'BASEMENT', ref_key: 7 }));
    for (const [order, wanted] of [
      ['desc', [9, 5, 4, 3, 1, 0]],
      ['asc', [0, 1, 3, 4, 5, 9]],
    ] as const) {
      const pages = await readPages((after: number | undefined) =>
        first.versions({ row_key, column_name: 'BASE' }, { limit: 2, order, after }),
      );
      for (const { cells } of pages) expect(cells.length).toBeLessThanOrEqual(2);
      const seen = pages.flatMap(({ cells }) => cells.map(({ ref_key }) => ref_key));
      expect(seen).toEqual(wanted);
    }
  });

  it('lists the latest cell of each column of a row, in byte order of the names', async () => {
    const row_key = randomUUID();
    const put = (column_name: string, ref_key: number) =>
      cellOf({ row_key, column_name, ref_key, body: `${column_name} ${ref_key}` });
    const cells = [put('STATUS', 1), put('STATUS', 2), put('BASE', 4), put('BASE', 3), put('notes', 0), put('Ä', 1)];
    await first.batchPut(cells);
    expect((await first.row(row_key)).cells.map(({ body }) => body)).toEqual(['BASE 4', 'STATUS 2', 'notes 0', 'Ä 1']);
    expect((await first.row(row_key, { columns: ['STATUS', 'NONE'] })).cells.map(({ body }) => body)).toEqual([
      'STATUS 2',
    ]);
    for (const more of [[], ['1', '2', '3', '4', '5', '6', '7', '8']]) {
      const columns = ['Ä', 'notes', 'BASE', 'notes', 'BASE', ...more];
      const { cells } = await first.row(row_key, { columns });
      expect(cells.map(({ body }) => body)).toEqual(['BASE 4', 'notes 0', 'Ä 1']);
    }
    expect((await first.row(row_key, { columns: [] })).cells).toHaveLength((await first.row(row_key)).cells.length);
    expect((await first.row(row_key, { after: 'STATUS' })).cells.map(({ body }) => body)).toEqual(['notes 0', 'Ä 1']);
  });
}

async function readLog(
  store: Datastore,
  location: Location,
  limit?: number,
): Promise<Extract<ShardLog, { readonly error?: undefined }>> {
  const [log] = await store.log([location], { limit });
  if (!log || log.error) throw new Error(`no log of shard ${location.shard}`, { cause: log?.error });
  return log;
}

async function headOf(store: Datastore, shard: number): Promise<number> {
  const head = (await store.heads())[shard];
  if (!head || head.error) throw new Error(`no head of shard ${shard}`, { cause: head?.error });
  return head.head;
}

/** Computes a digest by the documentation, as any reader of logs can. */
function digestOf(before: string, { added_id, row_key, ref_key, created_at, column_name, body }: Cell): string {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const ofBody = sha256(JSON.stringify(body));
  return sha256(`${before} ${added_id} ${row_key} ${ref_key} ${created_at} ${ofBody} ${column_name}`);
}

/** From the end of the log when the test begins: logs may be long. */
function digests(store: Datastore): void {
  it('says in one value what a log holds, at any place', async () => {
    const [row = ''] = rowsOfShard(1 % store.shards, store.shards, 1);
    const shard = shardOf(row, store.shards);
    const start = await headOf(store, shard);
    for (const [ref_key, body] of [{ b: 1, a: ['é', 0.5] }, null, 'text'].entries())
      await store.put(cellOf({ row_key: row, ref_key, body, column_name: `a "name"\n${ref_key}` }));
    const { cells } = await readLog(store, { shard, after: start }, 1000);
    expect(cells.length).toBeGreaterThanOrEqual(3);
    const range = { shard, after: start, digest: EMPTY_DIGEST };
    const values = [EMPTY_DIGEST];
    for (const cell of cells) values.push(digestOf(values.at(-1) ?? '', cell));
    for (const [count, digest] of values.entries()) {
      const at = start + count;
      expect(await store.digest({ ...range, at })).toMatchObject({ shard, at, digest, more: false });
      // The same on from any place between.
      for (const [before, known] of values.slice(0, count).entries())
        expect(await store.digest({ shard, at, after: start + before, digest: known })).toMatchObject({ at, digest });
    }
    const { at, digest, more } = await store.digest(range);
    expect([at >= start + cells.length, digest, more]).toEqual([true, expect.stringMatching(/^[0-9a-f]{64}$/u), false]);
  });

  it('has no digest of a position after the end of the log: returns that of its end, and that there is more', async () => {
    const { shard } = await store.put(cellOf());
    const head = await headOf(store, shard);
    const beyond = await store.digest({ shard, at: head + 1_000_000, after: head, digest: EMPTY_DIGEST });
    expect(beyond).toMatchObject({ shard, more: true });
    expect(beyond.at).toBeLessThan(head + 1_000_000);
    // Nor is a known one accepted if the log was cut since.
    const after = head + 1_000_000;
    for (const at of [undefined, after])
      expect(await store.digest({ shard, at, after, digest: EMPTY_DIGEST })).toMatchObject({ more: true });
  });

  it('begins with the start of the log, where nothing is known', async () => {
    expect(await store.digest({ shard: 0, at: 0 })).toMatchObject({ at: 0, digest: EMPTY_DIGEST, more: false });
  });

  it.each([
    [{ shard: 0, at: -1 }, 'at'],
    [{ shard: 0, at: 1.5 }, 'at'],
    [{ shard: 0, after: 2, at: 1, digest: EMPTY_DIGEST }, 'after'],
    [{ shard: 0, after: 2 }, 'digest'],
    [{ shard: 0, digest: EMPTY_DIGEST }, 'after'],
    [{ shard: 0, after: 2, digest: EMPTY_DIGEST.toUpperCase().slice(1) }, 'digest'],
    [{ shard: 0, after: 2, digest: `${'A'.repeat(64)}` }, 'digest'],
    [{ shard: 1_000_000 }, 'shard'],
  ])('names what is wrong with %j', async (range, field) => {
    expect(await errorOf(() => store.digest(range))).toMatchObject({ field });
  });
}

/** Of the smaller datastore, if there are two. Logs are judged from their present ends. */
function logs(store: Datastore): void {
  it('reads a shard as a log without holes, in the order written, from any added id', async () => {
    const shard = 1 % store.shards;
    const [row_key = ''] = rowsOfShard(shard, store.shards, 1);
    const head = await headOf(store, shard);
    const put = (ref_key: number, body: Json = ref_key) => store.put(cellOf({ row_key, ref_key, body }));
    for (let ref_key = 0; ref_key < 6; ref_key += 1) await put(ref_key);
    // A repeat and a conflict use nothing up.
    await put(3);
    await put(3, 'other');
    for (let ref_key = 6; ref_key < 10; ref_key += 1) await put(ref_key);

    const seen: Cell[] = [];
    const ours = (cells: readonly Cell[]): readonly Json[] =>
      cells.filter((cell) => cell.row_key === row_key).map(({ body }) => body);
    let next = head;
    while (ours(seen).length < 10) {
      const log = await readLog(store, { shard, after: next }, 4);
      expect([1, 2, 3, 4]).toContain(log.cells.length);
      expect(log).toMatchObject({ shard, next: log.cells.at(-1)?.added_id });
      seen.push(...log.cells);
      next = log.next;
    }
    expect(seen.map(({ added_id }) => added_id)).toEqual(seen.map((_, position) => head + 1 + position));
    expect(ours(seen)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const end = await readLog(store, { shard, after: next });
    expect(ours(end.cells)).toEqual([]);
    expect(end.next).toBe(end.cells.at(-1)?.added_id ?? next);
    expect(await headOf(store, shard)).toBeGreaterThanOrEqual(next);
  });

  it('never lets created_at go back within a shard, and finds a time in the log, inclusive', async () => {
    const shard = 2 % store.shards;
    const [row_key = ''] = rowsOfShard(shard, store.shards, 1);
    const head = await headOf(store, shard);
    for (let ref_key = 0; ref_key < 12; ref_key += 1) await store.put(cellOf({ row_key, ref_key, body: ref_key }));
    const { cells, next } = await readLog(store, { shard, after: head }, 1000);
    const times = cells.map(({ created_at }) => created_at);
    expect(times).toEqual([...times].sort());
    const ours = cells.filter((cell) => cell.row_key === row_key);
    expect(ours).toHaveLength(12);
    for (const { created_at } of ours) {
      const [found] = (await readLog(store, { shard, since: created_at }, 1)).cells;
      expect(found?.created_at).toBe(created_at);
      // The first of that time: whatever comes before it is older.
      const [before] = (await readLog(store, { shard, after: Math.max(0, (found?.added_id ?? 0) - 2) }, 1)).cells;
      expect(found?.added_id === 1 || (before !== undefined && before.created_at < created_at)).toBe(true);
    }
    const future = await readLog(store, { shard, since: '2999-01-01T00:00:00+02:00' }, 1);
    expect(future.cells).toEqual([]);
    expect(future.next).toBeGreaterThanOrEqual(next);
    expect(future.next).toBeLessThanOrEqual(await headOf(store, shard));
    expect(await readLog(store, { shard, since: '2001-01-01T00:00:00Z' }, 1)).toMatchObject({
      cells: [{ added_id: 1 }],
      next: 1,
    });
  });

  it('says of each shard whether its log goes on', async () => {
    const shard = 3 % store.shards;
    const [row_key = ''] = rowsOfShard(shard, store.shards, 1);
    const head = await headOf(store, shard);
    for (let ref_key = 0; ref_key < 4; ref_key += 1) await store.put(cellOf({ row_key, ref_key, body: ref_key }));
    expect(await readLog(store, { shard, after: head }, 3)).toMatchObject({ next: head + 3, more: true });
    expect(await readLog(store, { shard, since: '2001-01-01T00:00:00Z' }, 1)).toMatchObject({ more: true });
    // Followed by nothing but its answers, a log comes to its end, where the limit is met exactly, too.
    const last = await headOf(store, shard);
    for (const limit of [1, 2, 1000]) {
      let next = Math.max(0, last - 2);
      for (let more = true; more;) {
        const log = await readLog(store, { shard, after: next }, limit);
        expect(log.cells.length > 0 || !log.more).toBe(true);
        ({ next, more } = log);
      }
      expect(next).toBeGreaterThanOrEqual(last);
    }
  });

  it('reads many shards at once, in the order asked for, also one twice', async () => {
    const ends = (await store.heads()).map((head) => ({
      shard: head.shard,
      after: head.error ? Number.NaN : head.head,
    }));
    expect(ends.map(({ shard }) => shard)).toEqual(Array.from({ length: store.shards }, (_, shard) => shard));
    await store.batchPut(Array.from({ length: 40 }, () => cellOf()));
    const locations = [...ends.toReversed(), ...ends.slice(0, 1)];
    const logs = await store.log(locations, { limit: 1000 });
    expect(logs.map(({ shard }) => shard)).toEqual(locations.map(({ shard }) => shard));
    const read = logs.map((log, position) => {
      if (log.error) throw log.error;
      const { after = Number.NaN } = locations[position] ?? {};
      expect(log.cells.map(({ added_id }) => added_id)).toEqual(log.cells.map((_, index) => after + 1 + index));
      return log.cells.length;
    });
    expect(read.slice(0, -1).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(40);
  });
}

/** Calls that must be refused: a description, the code, and the field that the error names. */
function badInput(first: Datastore): void {
  const good = cellOf();
  const bad = (change: Record<string, unknown>) => ({ ...good, ...change }) as unknown as NewCell;
  const puts: readonly (readonly [string, NewCell, string, string])[] = [
    ['a row key that is no UUID', bad({ row_key: 'trip-1' }), 'invalid_field', 'row_key'],
    ['a row key in braces', bad({ row_key: `{${good.row_key}}` }), 'invalid_field', 'row_key'],
    ['a row key with a newline behind it', bad({ row_key: `${good.row_key}\n` }), 'invalid_field', 'row_key'],
    ['an empty column name', bad({ column_name: '' }), 'invalid_field', 'column_name'],
    ['a column name of 256 bytes', bad({ column_name: 'ä'.repeat(128) }), 'invalid_field', 'column_name'],
    ['a negative ref key', bad({ ref_key: -1 }), 'invalid_field', 'ref_key'],
    ['a fractional ref key', bad({ ref_key: 1.5 }), 'invalid_field', 'ref_key'],
    ['a ref key past 2^53-1', bad({ ref_key: 2 ** 53 }), 'invalid_field', 'ref_key'],
  ];
  it.each(puts)('refuses %s, naming the field, and writes nothing', async (_what, cell, code, field) => {
    const error = await errorOf(() => first.batchPut([good, cell]));
    expect(error.code).toBe(code);
    expect(error.details.field).toBe(`cells[1].${field}`);
    expect(error.details.wanted).toBeTruthy();
    expect(error.details.got).toBeTruthy();
    expect((await first.get(good)).cell).toBeNull();
  });

  it('refuses batches of over 100, and limits and locations out of range', async () => {
    const calls: readonly (readonly [() => Promise<unknown>, string, string])[] = [
      [() => first.batchPut(Array.from({ length: 101 }, () => cellOf())), 'invalid_field', 'cells'],
      [() => first.batchGet(Array.from({ length: 101 }, () => cellOf())), 'invalid_field', 'keys'],
      [() => first.versions(good, { limit: 0 }), 'invalid_field', 'limit'],
      [() => first.versions(good, { limit: 1001 }), 'invalid_field', 'limit'],
      [() => first.log([{ shard: 0, after: 0 }], { limit: 1.5 }), 'invalid_field', 'limit'],
      [() => first.log([{ shard: first.shards, after: 0 }]), 'unknown_shard', 'locations[0].shard'],
      [() => first.log([0, -1].map((shard) => ({ shard, after: 0 }))), 'invalid_field', 'locations[1].shard'],
      [() => first.log([{ shard: 0, after: -1 }]), 'invalid_field', 'locations[0].after'],
      [() => first.log([{ shard: 0, since: 'yesterday' }]), 'invalid_field', 'locations[0].since'],
      [() => first.log([{ shard: 0, since: '2026-02-30T00:00:00Z' }]), 'invalid_field', 'locations[0].since'],
      [() => first.log([{ shard: 0, since: '2026-02-03T00:00:00' }]), 'invalid_field', 'locations[0].since'],
    ];
    for (const [call, code, field] of calls) {
      const error = await errorOf(call);
      expect([error.code, error.details.field]).toEqual([code, field]);
    }
  });
}
