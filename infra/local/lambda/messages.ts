import type { FunctionDefinition } from './function-definition.ts';
import type { FunctionResult } from './function-result.ts';

/** Messages between the stack and a function's runner; events are JSON text. */
export interface CallMessage {
  readonly id: number;
  readonly event: string;
  readonly requestId: string;
  readonly timeoutMs: number;
}

/** A runner's first message: its bundle is loaded, or cannot be. */
export const READY = 'ready';

/** Tells an idle runner to collect its garbage. */
export const TIDY = 'tidy';

export type AnswerMessage =
  | { readonly id: number; readonly result: FunctionResult; readonly error?: undefined }
  | {
      readonly id: number;
      readonly error: { readonly name: string; readonly message: string; readonly stack: string };
    };

/** A runner's `workerData` in a thread, argument in a process. */
export type RunnerStart = Pick<FunctionDefinition, 'module' | 'exportName' | 'name' | 'title' | 'arn' | 'memoryMb'>;

/** Collects one turn's items into one list: ten calls cost one message and share statements. */
export function inOneTurn<Item>(handOn: (items: Item[]) => void): (item: Item) => void {
  let waiting: Item[] = [];
  return (item) => {
    waiting.push(item);
    if (waiting.length > 1) return;
    setImmediate(() => {
      const items = waiting;
      waiting = [];
      handOn(items);
    });
  };
}
