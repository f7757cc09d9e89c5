import { closeSync, openSync, writeSync } from 'node:fs';
import type { Json } from '../../../shared/cell.ts';

/** How an operation began, or ended: done, surely not done, or nobody knows. */
export type OperationType = 'invoke' | 'ok' | 'fail' | 'info';

export interface Operation {
  /** Who does it: one operation at a time. */
  readonly process: string;
  readonly type: OperationType;
  /** What is done: `put`. */
  readonly f: string;
  readonly value: Json;
}

export interface History extends Disposable {
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
