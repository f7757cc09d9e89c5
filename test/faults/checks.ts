import { grouped } from '../support/text-table.ts';
import type { Check } from './fault-run.ts';

/** What a figure is judged by: the same of the real run and of its control. */
export interface Bar<Figures> {
  readonly what: string;
  readonly bar: string;
  readonly figure: (of: Figures) => string;
  readonly holds: (real: Figures) => boolean;
  /** Of the control. @default that it does not hold */
  readonly fails?: (control: Figures) => boolean;
}

export function check<Figures>(
  { what, bar, figure, holds, fails = (control) => !holds(control) }: Bar<Figures>,
  real: Figures,
  control: Figures,
): Check {
  return {
    what,
    figure: figure(real),
    bar,
    passed: holds(real),
    control: { figure: figure(control), failed: fails(control) },
  };
}

/** So many of all that are wrong. */
export interface Share {
  readonly wrong: number;
  readonly of: number;
}

/** "3 of 1,200" */
export function shareFigure({ wrong, of }: Share): string {
  return `${grouped(wrong)} of ${grouped(of)}`;
}

/** None of enough is wrong, and of the control some are. */
export function noneOf(what: string, least: number, real: Share, control: Share): Check {
  const bar = `0 of at least ${grouped(least)}`;
  return check(
    {
      what,
      bar,
      figure: shareFigure,
      holds: ({ wrong, of }) => wrong === 0 && of >= least,
      fails: ({ wrong }) => wrong > 0,
    },
    real,
    control,
  );
}

export function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}

/** "stored 9, conflicts 1,200" */
export function countsLine(counts: object): string {
  return Object.entries(counts)
    .map(([what, count]) => `${what} ${grouped(count as number)}`)
    .join(', ');
}
