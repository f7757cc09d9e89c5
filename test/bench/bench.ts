import type { RunWorld } from '../support/run-world.ts';

/** The resources of a measurement; its folder is removed afterwards. */
export type BenchWorld = Pick<RunWorld, 'engine' | 'seed' | 'folder' | 'signal' | 'say'>;

export interface Bench {
  readonly name: string;
  readonly what: string;
  /** Excluded unless named: takes minutes. @default included without a name */
  readonly isolated?: true;
  /** A longer measurement fails. */
  readonly limitMinutes: number;
  measure(world: BenchWorld): Promise<Findings>;
}

export interface Findings {
  readonly measured: readonly Measured[];
}

/** A row of the table. */
export interface Measured {
  readonly what: string;
  readonly result: string;
  readonly bar: string;
  readonly passed: boolean;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
}

export interface BenchReport extends Findings, Pick<Bench, 'name' | 'what'> {
  /** The duration of the measurement. */
  readonly seconds: number;
}
