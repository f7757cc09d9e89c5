import { setTimeout as sleep } from 'node:timers/promises';
import type { CellAddress, Json, NewCell, PutResult } from '../../../shared/cell.ts';
import type { Random } from '../../support/random.ts';
import { markOf } from '../stored-cells.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { closeSync, openSync, writeSync } from 'node:fs';

export interface Told extends CellAddress {
  readonly mark: number;
  readonly shard: number;
  readonly outcome: PutResult['outcome'];
  /** 0 where none was answered. */
  readonly added_id: number;
}

/** The same, and when. */
export interface Answer extends Told {
  /** Milliseconds since 1970, by the machine's clock, which the servers read too; cut, not rounded. */
  readonly begun: number;
  readonly ended: number;
  /** From one to the other. */
  readonly milliseconds: number;
  /** Meanwhile a group that was to take a copy, or to give one back, failed. */
  readonly holderFailed: boolean;
}

/** Asks once for one cell or a batch; the answers come in the order of the cells. */
type Asker = (cells: readonly NewCell[]) => Promise<readonly Answer[]>;

export interface AskerOptions {
  readonly writer: Pick<CellWriter, 'put' | 'batchPut'>;
  /**
   * Of whoever asks, in the history. Nobody does two things at once there: calls that overlap have names of their own.
   */
  readonly name: string;
  readonly history: History;
  /** How often groups that were to take copies, or to give them back, have failed so far. */
  readonly holderFailures?: () => number;
}

export function toldOf(cell: NewCell, result: PutResult): Told {
  const { row_key, column_name, ref_key } = cell;
  const added_id = ('added_id' in result && result.added_id) || 0;
  return { row_key, column_name, ref_key, mark: markOf(cell), shard: result.shard, outcome: result.outcome, added_id };
}

/** The truth is known: whoever is told anything else may ask again. */
export function isTold({ outcome }: Told): boolean {
  return outcome === 'stored' || outcome === 'stored_before' || outcome === 'conflict';
}

/** Writes cells with a put, or with a batch-put where they are several, and notes it in the history. */
export function asker({ writer, name, history, holderFailures = () => 0 }: AskerOptions): Asker {
  let names = 0;
  const idle: string[] = [];
  return async (cells) => {
    const [first] = cells;
    if (!first) return [];
    const process = idle.pop() ?? `${name}/${(names += 1)}`;
    const isBatch = cells.length > 1;
    const f = isBatch ? 'batch-put' : 'put';
    history.note({ process, type: 'invoke', f, value: isBatch ? cells.map((cell) => ({ ...cell })) : { ...first } });
    const [begun, start, failuresBefore] = [Date.now(), performance.now(), holderFailures()];
    const results = isBatch ? await writer.batchPut(cells) : [await writer.put(first)];
    const timing = {
      begun,
      ended: Date.now(),
      milliseconds: performance.now() - start,
      holderFailed: holderFailures() > failuresBefore,
    };
    const type = typeOf(results);
    const value = isBatch ? results.map((result) => ({ ...result })) : { ...(results[0] as PutResult) };
    history.note({ process, type, f, value });
    // Whoever does not know what became of its operation does nothing more.
    if (type !== 'info') idle.push(process);
    return cells.map((cell, position) => ({ ...toldOf(cell, results[position] as PutResult), ...timing }));
  };
}

function typeOf(results: readonly PutResult[]): 'ok' | 'fail' | 'info' {
  if (results.some(({ outcome }) => outcome === 'unavailable')) return 'info';
  return results.length === 1 && results[0]?.outcome === 'conflict' ? 'fail' : 'ok';
}

export interface Patience {
  /** Between two tries, at random, in milliseconds. */
  readonly leastMs: number;
  readonly mostMs: number;
  /** Then it is given up. */
  readonly wholeMs: number;
}

/** Asks again for those of the cells of which the truth is not known, until it is. Returns all further answers. */
export async function askUntilTold(
  ask: Asker,
  cells: readonly NewCell[],
  first: readonly Answer[],
  random: Random,
  { leastMs, mostMs, wholeMs }: Patience,
): Promise<readonly Answer[]> {
  const further: Answer[] = [];
  const end = performance.now() + wholeMs;
  let open = cells.filter((_, position) => !first[position] || !isTold(first[position]));
  while (open.length > 0 && performance.now() < end) {
    await sleep(random.between(leastMs, mostMs));
    const answers = await ask(open);
    further.push(...answers);
    open = open.filter((_, position) => !isTold(answers[position] as Answer));
  }
  return further;
}

export interface CellWriter extends AsyncDisposable {
  put(cell: NewCell): Promise<PutResult>;
  batchPut(cells: readonly NewCell[]): Promise<readonly PutResult[]>;
  /** Where it is a store. */
  readonly get?: Datastore['get'];
}

/** How an operation began, or ended: done, surely not done, or nobody knows. */
type OperationType = 'invoke' | 'ok' | 'fail' | 'info';

interface Operation {
  /** Who does it: one operation at a time. */
  readonly process: string;
  readonly type: OperationType;
  /** What is done: `put`. */
  readonly f: string;
  readonly value: Json;
}

interface History extends Disposable {
  note(operation: Operation): void;
}

const FLUSH_BYTES = 64 * 1024;

/**
 * Appends operations to a file, a line each, for checkers of histories. Many threads may append to one file: whole
 * lines are written with one call. Times are microseconds, comparable within one run.
 */
export function openHistory(file: string | undefined, run: string): History {
  if (file === undefined) return { note: () => undefined, [Symbol.dispose]: () => undefined };
  const handle = openSync(file, 'a');
  let waiting = '';
  const flush = (): void => {
    if (waiting !== '') writeSync(handle, waiting);
    waiting = '';
  };
  return {
    note(operation) {
      const time = Math.round((performance.timeOrigin + performance.now()) * 1000);
      waiting += `${JSON.stringify({ run, time, ...operation })}\n`;
      if (waiting.length > FLUSH_BYTES) flush();
    },
    [Symbol.dispose]() {
      flush();
      closeSync(handle);
    },
  };
}
