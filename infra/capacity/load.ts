import type { EnvironmentProps } from '../environments.ts';

/** What is asked of an environment. */
export interface Load {
  readonly environment: EnvironmentProps;
  /** Of all datastores together. */
  readonly shards: number;
  /** Cells written each second, all the time; their index entries and triggers come on top. */
  readonly writesPerSecond: number;
}

/** The rates that the document shows. */
export const RATES = [0, 100, 1000, 10_000, 100_000] as const;

/**
 * A load on an environment as it is described.
 *
 * @throws Error that names the field, what was wanted and what came
 */
export function loadOn(environment: EnvironmentProps, shards: number, writesPerSecond: number): Load {
  if (!Number.isInteger(shards) || shards < 1) throw new Error(`shards: wanted a whole number from 1, got ${shards}`);
  if (!Number.isFinite(writesPerSecond) || writesPerSecond < 0)
    throw new Error(`writesPerSecond: wanted a number from 0, got ${writesPerSecond}`);
  return { environment, shards, writesPerSecond };
}
