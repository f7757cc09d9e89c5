import type { AppContext } from '../../app-context.ts';

/** Handed to the process that synthesizes. */
export interface SynthesisOrder {
  /** Path of a module that exports `buildApp(app)`. */
  readonly app: string;
  readonly context: AppContext;
  readonly folder: string;
}

/** What that process says when it has. */
export interface SynthesisReport {
  /** Paths of the modules that it loaded, and of the files that went into bundles. */
  readonly read: readonly string[];
}
