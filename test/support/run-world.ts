import type { EngineKind } from '../../infra/setup/engine.mjs';

export interface RunWorld {
  readonly engine: EngineKind | undefined;
  /** Every choice of a run follows from it, apart from what the machine's own timing decides. */
  readonly seed: string;
  /** How long the load lasts, where the run is measured by time. */
  readonly seconds: number | undefined;
  /** Operations are appended to this file as NDJSON. */
  readonly history: string | undefined;
  /** An empty folder for everything the run keeps; removed afterwards. */
  readonly folder: string;
  /** Aborted by Ctrl-C: whatever waits has to end. */
  readonly signal: AbortSignal;
  /** Tells whoever is watching how far it is. */
  readonly say: (line: string) => void;
}
