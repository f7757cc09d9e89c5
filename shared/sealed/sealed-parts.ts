import type { Sealing } from './seal-cells.ts';
import type { SealedPaths } from './sealed-paths.ts';

/** What a sealed datastore goes by. */
export interface SealedParts {
  readonly paths: () => Promise<SealedPaths>;
  /** The keys, made where there are none yet. */
  readonly made: () => Promise<Sealing>;
  /** The keys, where there are any. At once where they were read before. */
  readonly known: () => Sealing | Promise<Sealing | undefined>;
}
