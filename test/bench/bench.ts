import type { RunWorld } from '../support/run-world.ts';

/** What a measurement is given; its folder is removed afterwards. */
export type BenchWorld = Pick<RunWorld, 'engine' | 'seed' | 'folder' | 'signal' | 'say'>;

export interface Bench {
  readonly name: string;
  readonly what: string;
  /** Left out when nothing is named: takes minutes by itself. @default it is among those that run without a name */
  readonly apart?: true;
  /** What takes longer has failed. */
  readonly limitMinutes: number;
  measure(world: BenchWorld): Promise<Findings>;
}

export interface Findings {
  readonly measured: readonly Measured[];
}

/** A row of the table. */
export interface Measured {
  readonly what: string;
  readonly figure: string;
  readonly bar: string;
  readonly passed: boolean;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
}

export interface BenchReport extends Findings, Pick<Bench, 'name' | 'what'> {
  /** How long it took. */
  readonly seconds: number;
}
