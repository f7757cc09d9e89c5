import type { AppContext } from '../../app-context.ts';

/** The order to the synthesis process. */
export interface SynthesisOrder {
  readonly app: string;
  readonly context: AppContext;
  readonly folder: string;
}

export interface SynthesisReport {
  readonly read: readonly string[];
}
