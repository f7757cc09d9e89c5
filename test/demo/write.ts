import type { NewCell, PutResult } from '../../shared/cell.ts';
import { notWritten, writeUntilConfirmed } from './confirm.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import type { Differences } from './differences.ts';
import { inParallel } from '../support/parallel.ts';
import { persist } from '../support/persist.ts';
import type { Progress } from '../support/progress.ts';

/** Where the cells of one shard are in its log. */
export interface ShardPart {
  /** All of them come after this added id. */
  after: number;
  cells: number;
}

/** What writing came to. */
export interface Written {
  cells: number;
  readonly outcomes: Map<string, number>;
  readonly shards: Map<number, ShardPart>;
  /** Duration of each answered request. */
  readonly putMs: number[];
  readonly batchMs: number[];
  seconds: number;
}

interface WriteOptions {
  readonly concurrency: number;
  /** Cells of a batch-put; 1 sends every cell alone. */
  readonly batch: number;
  /** How long a cell that is answered `unavailable` is sent again. */
  readonly confirmedWithinMs: number;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly differences: Differences;
  /** Told of every cell as it is answered. */
  readonly answered: (cell: NewCell, result: PutResult) => void;
}

/** Writes all cells, some alone and most in batches, and repeats what is not confirmed. */
export async function writeCells(store: DemoStore, cells: Iterable<NewCell>, options: WriteOptions): Promise<Written> {
  const heads = new Map<number, number>();
  for (const head of await persist(options.signal, () => store.heads()))
    if (head.error === undefined) heads.set(head.shard, head.head);
  const written: Written = { cells: 0, outcomes: new Map(), shards: new Map(), putMs: [], batchMs: [], seconds: 0 };
  const started = performance.now();
  await inParallel(requests(cells, options.batch), options.concurrency, options.signal, (request) =>
    writeUntilConfirmed(request, {
      send: (left) => send(store, left, written, options.signal),
      answered: (cell, result) => note(written, heads, cell, result, options),
      again: (times) => count(written.outcomes, 'repeated', times),
      withinMs: options.confirmedWithinMs,
      signal: options.signal,
    }),
  );
  written.seconds = (performance.now() - started) / 1000;
  return written;
}

/** Batches, and after each of them some cells alone: a fifth of a batch's. */
function* requests(cells: Iterable<NewCell>, batch: number): Generator<readonly NewCell[], void> {
  const alone = Math.ceil(batch / 5);
  let chunk: NewCell[] = [];
  let single = 0;
  for (const cell of cells) {
    if (single > 0) {
      single -= 1;
      yield [cell];
      continue;
    }
    chunk.push(cell);
    if (chunk.length < batch) continue;
    yield chunk;
    chunk = [];
    single = alone;
  }
  if (chunk.length > 0) yield chunk;
}

async function send(
  store: DemoStore,
  cells: readonly NewCell[],
  written: Written,
  signal: AbortSignal,
): Promise<readonly PutResult[]> {
  let sent = 0;
  return persist(signal, async () => {
    if (sent > 0) count(written.outcomes, 'repeated', cells.length);
    sent += 1;
    const started = performance.now();
    const [first] = cells;
    const alone = cells.length === 1 && first !== undefined;
    const results = alone ? [await store.put(first)] : await store.batchPut(cells);
    (alone ? written.putMs : written.batchMs).push(performance.now() - started);
    return results;
  });
}

function note(
  written: Written,
  heads: ReadonlyMap<number, number>,
  cell: NewCell,
  result: PutResult,
  options: WriteOptions,
): void {
  written.cells += 1;
  count(written.outcomes, result.outcome, 1);
  options.answered(cell, result);
  if (cell.column_name === 'BASE' && cell.ref_key === 1) options.progress.advance();
  const why = notWritten(result, options.confirmedWithinMs);
  // What was not written is counted here, and looked for nowhere.
  if (why !== undefined) return options.differences.fail(cell, why);
  const part = written.shards.get(result.shard) ?? { after: heads.get(result.shard) ?? 0, cells: 0 };
  part.cells += 1;
  // A cell that was there before this run is further up in the log.
  if ('added_id' in result) part.after = Math.min(part.after, result.added_id - 1);
  written.shards.set(result.shard, part);
}

function count(counts: Map<string, number>, name: string, times: number): void {
  counts.set(name, (counts.get(name) ?? 0) + times);
}
