import type { FunctionMode } from '../lambda/function-definition.ts';

export interface TemplateOptions {
  readonly functions: FunctionMode;
  /** Tailing workers, 1 to 64. Undefined: as last time, 1 at first. */
  readonly tailers?: number | undefined;
  /** Heap of each instance in MB, 64 to 10,240. Undefined: the template's. */
  readonly functionMemory?: number | undefined;
  /** Ends an instance after so long without a call; 0 = never. Functions that start each minute need more than 60. */
  readonly functionIdleSeconds: number;
  readonly functionArguments: readonly string[];
  readonly log: (line: string) => void;
}
