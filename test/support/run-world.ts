import type { EngineKind } from '../../infra/setup/engine.mjs';

export interface RunWorld {
  readonly engine: EngineKind | undefined;
  /** Every choice of a run follows from it, except those that the machine's timing makes. */
  readonly seed: string;
  /** How long the load lasts, where the run is measured by time. */
  readonly seconds: number | undefined;
  /** An empty folder for everything the run keeps; removed afterwards. */
  readonly folder: string;
  /** Aborted by Ctrl-C: whatever waits has to end. */
  readonly signal: AbortSignal;
  /** Prints a line of progress. */
  readonly say: (line: string) => void;
}
