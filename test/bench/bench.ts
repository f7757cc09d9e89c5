import type { RunWorld } from '../support/run-world.ts';
import type { YcsbSettings } from './ycsb/settings.ts';

/** What a measurement is given; its folder is removed afterwards. */
export interface BenchWorld extends Pick<RunWorld, 'engine' | 'seed' | 'folder' | 'signal' | 'say'> {
  /** What was asked for of the bench of that name. @default nothing */
  readonly ycsb?: YcsbSettings;
}

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
  /** For people who would rather look. @default none */
  readonly plots?: readonly Plot[];
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

export type Plot = BarPlot | LinePlot;

/** Values side by side, each with what was seen at least and at most, and what it has to reach. */
export interface BarPlot {
  readonly kind: 'bars';
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly {
    readonly label: string;
    readonly value: number;
    readonly least?: number;
    readonly most?: number;
    readonly bar?: number;
    readonly passed?: boolean;
  }[];
}

export interface LinePlot {
  readonly kind: 'lines';
  readonly title: string;
  /** Names of the axes, with units. */
  readonly x: string;
  readonly y: string;
  /** @default false, a linear axis */
  readonly logX?: boolean;
  /** Of values above 0. @default false, a linear axis */
  readonly logY?: boolean;
  readonly lines: readonly { readonly name: string; readonly points: readonly (readonly [x: number, y: number])[] }[];
}
