import type { RunWorld } from '../faults/fault-run.ts';

/** What a measurement is given; its folder is removed afterwards. */
export type BenchWorld = Pick<RunWorld, 'engine' | 'seed' | 'folder' | 'signal' | 'say'>;

export interface Bench {
  readonly name: string;
  readonly what: string;
  measure(world: BenchWorld): Promise<readonly Measured[]>;
}

export interface Measured {
  readonly what: string;
  readonly figure: string;
  readonly bar: string;
  readonly passed: boolean;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
}
