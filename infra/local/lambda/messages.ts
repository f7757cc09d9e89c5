import type { FunctionResult } from './function-result.ts';

/**
 * What the stack and the runner of a function say to each other. Events are JSON text, as with Lambda, and results
 * nearly so.
 */
export interface CallMessage {
  readonly id: number;
  readonly event: string;
  readonly requestId: string;
  readonly timeoutMs: number;
}

/** The first thing a runner says: its bundle is loaded, or cannot be. */
export const READY = 'ready';

/** Said to a runner that nobody calls: it collects its garbage. */
export const TIDY = 'tidy';

export type AnswerMessage =
  | { readonly id: number; readonly result: FunctionResult; readonly error?: undefined }
  | {
      readonly id: number;
      readonly error: { readonly name: string; readonly message: string; readonly stack: string };
    };

/** What a runner needs to know before its first call; in a thread as `workerData`, in a process as its argument. */
export interface RunnerStart {
  readonly module: string;
  readonly exportName: string;
  readonly name: string;
  readonly title: string;
  readonly arn: string;
  readonly memoryMb: number;
}
