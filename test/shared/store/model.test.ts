import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Cell, Json, PutResult } from '../../../shared/cell.ts';
import type { Datastore, VersionsOptions } from '../../../shared/contract/datastore.ts';
import { referenceStore } from '../../support/reference-store.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';

const SHARDS = 3;
const RUNS = 60;
/** A bug has to be found in so many. */
const PLANTED_RUNS = 200;

type Call = (datastore: Datastore) => Promise<unknown>;

interface Pair {
  readonly reference: Datastore;
  readonly store: Datastore;
}

const address = fc.record(
  { row_key: fc.nat(2), column_name: fc.constantFrom('BASE', 'base', 'NOTES'), ref_key: fc.nat(4) },
  { noNullPrototype: true },
);
type Address = typeof address extends fc.Arbitrary<infer Value> ? Value : never;

const body: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: fc.nat(2) },
  { weight: 2, arbitrary: fc.constantFrom<Json[]>({ a: 1, b: [2] }, { b: [2], a: 1 }, { a: 1 }, '', null, [0]) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json> },
);
const page = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined });

/** All calls but those that depend on the time. `rows` are the row keys that a run writes to. */
function calls(rows: readonly string[]): fc.Arbitrary<fc.AsyncCommand<object, Pair>>[] {
  const addressOf = ({ row_key, ...rest }: Address) => ({ ...rest, row_key: rows[row_key] ?? '' });
  const columnOf = (at: Address) => ({ row_key: rows[at.row_key] ?? '', column_name: at.column_name });
  const newCell = fc.record({ at: address, body }).map(({ at, body }) => ({ ...addressOf(at), body }));
  const location = fc.record({ shard: fc.nat(SHARDS - 1), after: fc.nat(12) });
  return [
    newCell.map((cell) => command('put', cell, async (store) => timeless(await store.put(cell)))),
    fc
      .array(newCell, { maxLength: 6 })
      .map((cells) => command('batchPut', cells, async (store) => (await store.batchPut(cells)).map(timeless))),
    address.map((at) => command('get', at, async (store) => bare((await store.get(addressOf(at))).cell))),
    address.map((at) => command('getLatest', at, async (store) => bare((await store.getLatest(columnOf(at))).cell))),
    fc
      .record({
        at: address,
        limit: page,
        order: fc.constantFrom<VersionsOptions['order'][]>('asc', 'desc', undefined),
        after: fc.option(fc.nat(4), { nil: undefined }),
      })
      .map(({ at, ...options }) =>
        command('versions', { at, ...options }, async (store) => bareList(await store.versions(columnOf(at), options))),
      ),
    fc
      .record({
        row: fc.nat(2),
        columns: fc.option(fc.subarray(['BASE', 'base', 'NOTES', 'NONE'], { minLength: 1 }), { nil: undefined }),
        after: fc.option(fc.constantFrom('A', 'BASE', 'base'), { nil: undefined }),
      })
      .map(({ row, ...options }) =>
        command('row', { row, ...options }, async (store) => bareList(await store.row(rows[row] ?? '', options))),
      ),
    fc
      .array(address, { maxLength: 5 })
      .map((addresses) =>
        command('batchGet', addresses, async (store) =>
          (await store.batchGet(addresses.map((at, item) => (item % 2 === 0 ? addressOf(at) : columnOf(at))))).map(
            (item) => (item && 'error' in item && !('body' in item) ? item.error : bare(item as Cell | null)),
          ),
        ),
      ),
    fc
      .record({ locations: fc.array(location, { maxLength: 4 }), limit: page })
      .map(({ locations, limit }) =>
        command('log', { locations, limit }, async (store) =>
          (await store.log(locations, { limit })).map((log) =>
            log.error ? log.error : { shard: log.shard, more: log.more, ...bareList(log) },
          ),
        ),
      ),
    fc.constant(
      command('heads', undefined, async (store) =>
        (await store.heads()).map((head) => (head.error ? head.error : head.head)),
      ),
    ),
  ];
}

function command(name: string, input: unknown, call: Call): fc.AsyncCommand<object, Pair> {
  return {
    check: () => true,
    async run(_model, { reference, store }) {
      expect(await call(store)).toEqual(await call(reference));
    },
    toString: () => `${name}(${fc.stringify(input)})`,
  };
}

function timeless(result: PutResult): unknown {
  return { ...result, created_at: undefined };
}

function bare(cell: Cell | null): unknown {
  if (!cell) return null;
  const { row_key, column_name, ref_key, body, added_id, shard } = cell;
  return { row_key, column_name, ref_key, body, added_id, shard };
}

function bareList({ cells, next }: { readonly cells: readonly Cell[]; readonly next: unknown }): {
  readonly cells: unknown[];
  readonly next: unknown;
} {
  return { cells: cells.map(bare), next };
}

/** Random calls, of both stores one after the other, on rows of their own. @param open makes two empty stores */
function model(
  open: () => Promise<Pair>,
): fc.IAsyncProperty<[{ readonly commands: Iterable<fc.AsyncCommand<object, Pair>> }]> {
  const commands = fc
    .uniqueArray(fc.uuid(), { minLength: 3, maxLength: 3 })
    .chain((rows) => fc.record({ commands: fc.commands(calls(rows), { maxCommands: 20, size: '+1' }) }));
  return fc.asyncProperty(commands, async ({ commands }) => {
    const pair = await open();
    await fc.asyncModelRun(() => ({ model: {}, real: pair }), commands);
  });
}

/** The planted bug: a page of versions begins at the ref key that it should begin after. */
async function withInclusivePages(): Promise<Pair> {
  const [reference, store] = [referenceStore('model', SHARDS), referenceStore('model', SHARDS)];
  const moved = ({ after, order, ...rest }: VersionsOptions): VersionsOptions => ({
    ...rest,
    order,
    after:
      after === undefined || (order === 'asc' && after === 0) ? undefined : order === 'asc' ? after - 1 : after + 1,
  });
  return { reference, store: { ...store, versions: (key, options = {}) => store.versions(key, moved(options)) } };
}

describe('the store does what the reference store does', () => {
  let real: RealStore;
  let runs = 0;

  beforeAll(async () => {
    real = await openRealStore({
      datastores: Object.fromEntries(Array.from({ length: RUNS }, (_, run) => [`model${run}`, SHARDS])),
    });
  });
  afterAll(() => real.close());

  it(`in ${RUNS} runs over real servers`, async () => {
    const next = async (): Promise<Pair> => {
      const name = `model${runs}`;
      runs += 1;
      return { reference: referenceStore(name, SHARDS), store: await real.deployment.datastore(real.nameOf(name)) };
    };
    // Each run has a datastore of its own; there are none for making a failure smaller.
    const report = await fc.asyncDefaultReportMessage(
      await fc.check(model(next), { numRuns: RUNS, endOnFailure: true }),
    );
    expect(report).toBeUndefined();
  });

  it(`and a planted bug is found within ${PLANTED_RUNS} runs`, async () => {
    const { failed, numRuns } = await fc.check(model(withInclusivePages), {
      numRuns: PLANTED_RUNS,
      endOnFailure: true,
    });
    expect(failed).toBe(true);
    expect(numRuns).toBeLessThanOrEqual(PLANTED_RUNS);
  });
});
