import type { NewCell } from '../../shared/cell.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { Random } from '../support/random.ts';
import { startServers } from '../support/cluster.ts';
import { DATASTORE } from '../support/store-access.ts';
import type { Bench, BenchWorld, Findings, LinePlot, Measured } from './bench.ts';
import { growthFigure, growthOf, medianOf } from './growth/compare-rounds.ts';
import { numberedRowKey, numberedTrip } from './growth/numbered-trips.ts';
import { inTurns, OPERATIONS, type Operation, type Quantiles, type Rounds, type Subject } from './growth/rounds.ts';
import { linePlot, rowsOn } from './rows-and-plots.ts';
import { createSizedStores, type StoreSize } from './growth/sized-stores.ts';

const GROUPS = 3;
const MOST_GROWTH = 1.3;
const QUANTILES = ['p50', 'p99'] as const satisfies readonly (keyof Quantiles)[];

/** The one that both series have. */
const USUAL: StoreSize = { name: DATASTORE, shards: 64, cells: 100_000 };
const BY_CELLS: readonly StoreSize[] = [
  { name: 'few_cells', shards: 64, cells: 10_000 },
  USUAL,
  { name: 'many_cells', shards: 64, cells: 1_000_000 },
];
const BY_SHARDS: readonly StoreSize[] = [
  USUAL,
  { name: 'more_shards', shards: 512, cells: 100_000 },
  { name: 'many_shards', shards: 4096, cells: 100_000 },
];
const SIZES = [...new Set([...BY_CELLS, ...BY_SHARDS])];

/**
 * Whether an operation takes longer in a large datastore than in a small one. All are on the same groups at the same
 * time, and measured in turn. Everything fits in the servers' memory: a disk that has to be read is another matter. The
 * groups have no readers, whose replication would take its share of the machine, and nothing drains the buffer.
 */
export const growthBench: Bench = {
  name: 'growth',
  what: `p50 and p99 of put and get latest at ${BY_CELLS.map(({ cells }) => inWords(cells)).join(', ')} cells, and at ${BY_SHARDS.map(({ shards }) => shards).join(', ')} shards`,
  apart: true,
  limitMinutes: 20,

  async measure({ folder, engine: wish, seed, say, signal }: BenchWorld): Promise<Findings> {
    await using parts = new AsyncDisposableStack();
    const { servers, groups, engine } = await startServers({
      folder,
      engine: wish,
      groups: GROUPS,
      readers: 0,
      shards: SIZES.reduce((sum, { shards }) => sum + shards, 0),
    });
    parts.defer(() => servers.stop());
    const stores = parts.use(await createSizedStores(groups, SIZES));
    const subjects: Subject[] = [];
    for (const size of SIZES) {
      const start = performance.now();
      await stores.fill(size, signal);
      say(
        `${inWords(size.cells)} cells with their entries in ${size.shards} shards: ${((performance.now() - start) / 1000).toFixed(0)} s`,
      );
      subjects.push(subjectOf(await stores.open(size.name), size, seed));
    }
    const rounds = await inTurns(subjects, { signal, say });
    const cells = (size: StoreSize): number => size.cells;
    const shards = (size: StoreSize): number => size.shards;
    return {
      measured: [
        ...rowsOf(BY_CELLS, rounds, engine, (size) => `${inWords(size.cells)} cells`),
        ...rowsOf(BY_SHARDS, rounds, engine, (size) => `${size.shards} shards`),
      ],
      plots: [plotOf(BY_CELLS, rounds, 'cells', cells), plotOf(BY_SHARDS, rounds, 'shards', shards)],
    };
  },
};

/** Puts new trips, and reads those that the store was filled with. */
function subjectOf(datastore: Datastore, { name, cells }: StoreSize, seed: string): Subject {
  const random = new Random(seed, name, 0);
  let next = cells;
  return {
    name,
    operations: {
      async put() {
        const cell: NewCell = numberedTrip(name, next++);
        const { outcome } = await datastore.put(cell);
        if (outcome !== 'stored') throw new Error(`a put to ${name} was answered ${outcome}`);
      },
      async 'get latest'() {
        const { cell } = await datastore.getLatest({
          row_key: numberedRowKey(name, random.integer(0, cells - 1)),
          column_name: 'BASE',
        });
        if (!cell) throw new Error(`a cell of ${name} was not found`);
      },
    },
  };
}

/** Each size but the smallest, next to that. */
function rowsOf(
  [smallest, ...larger]: readonly StoreSize[],
  rounds: ReadonlyMap<string, Rounds>,
  engine: string,
  label: (size: StoreSize) => string,
): readonly Measured[] {
  if (!smallest) return [];
  return larger.flatMap((size) =>
    (Object.keys(OPERATIONS) as Operation[]).map((operation): Measured => {
      const growths = QUANTILES.map((quantile) => ({
        quantile,
        growth: growthOf(
          rounds.get(smallest.name)?.[operation] ?? [],
          rounds.get(size.name)?.[operation] ?? [],
          quantile,
        ),
      }));
      return rowsOn(engine)(
        `${operation}: ${label(size)}, times ${label(smallest)}`,
        growths.map(({ quantile, growth }) => growthFigure(quantile, growth)).join(', '),
        `each ≤ ${MOST_GROWTH}`,
        growths.every(({ growth }) => growth.ratio <= MOST_GROWTH),
      );
    }),
  );
}

function plotOf(
  sizes: readonly StoreSize[],
  rounds: ReadonlyMap<string, Rounds>,
  x: string,
  at: (size: StoreSize) => number,
): LinePlot {
  const lines = (Object.keys(OPERATIONS) as Operation[]).flatMap((operation) =>
    QUANTILES.map((quantile) => ({
      name: `${operation}, ${quantile}`,
      points: sizes.map((size): readonly [number, number] => [
        at(size),
        medianOf(rounds.get(size.name)?.[operation] ?? [], quantile),
      ]),
    })),
  );
  return linePlot(`Latency by ${x}`, { x, y: 'milliseconds', logX: true }, lines);
}

function inWords(count: number): string {
  return count.toLocaleString('en-US');
}
