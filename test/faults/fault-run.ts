import type { RunWorld } from '../support/run-world.ts';
import { grouped } from '../support/text-table.ts';

export { grouped, type RunWorld };

/** One promise under one fault, proven by a command. */
export interface FaultRun {
  readonly name: string;
  readonly promise: string;
  readonly fault: string;
  /** The protection that the control lacks: without it, the same checks must fail. */
  readonly control: string;
  /** Judges durations, which other work would distort. */
  readonly alone?: true;
  run(world: RunWorld): Promise<RunOutcome>;
}

export interface RunOutcome {
  readonly checks: readonly Check[];
  readonly cells: number;
  readonly notes: readonly string[];
  /** "MariaDB 10.11.6" @default the engine that its servers run on */
  readonly engine?: string;
}

export interface Check {
  readonly what: string;
  readonly result: string;
  readonly bar: string;
  readonly passed: boolean;
  readonly control: Control;
}

/** The same result without the protection. It must be bad: a check that cannot fail proves nothing. */
interface Control {
  readonly result: string;
  readonly failed: boolean;
}

export function holds({ passed, control }: Check): boolean {
  return passed && control.failed;
}

/** The bar of a result, for the real run and for its control. */
export interface Bar<Results> {
  readonly what: string;
  readonly bar: string;
  readonly result: (of: Results) => string;
  readonly holds: (real: Results) => boolean;
  /** Judges the control. @default it fails if it does not hold */
  readonly fails?: (control: Results) => boolean;
}

export function check<Results>(
  { what, bar, result, holds, fails = (control) => !holds(control) }: Bar<Results>,
  real: Results,
  control: Results,
): Check {
  return {
    what,
    result: result(real),
    bar,
    passed: holds(real),
    control: { result: result(control), failed: fails(control) },
  };
}

export interface Share {
  readonly wrong: number;
  readonly of: number;
}

/** "3 of 1,200" */
export function shareResult({ wrong, of }: Share): string {
  return `${grouped(wrong)} of ${grouped(of)}`;
}

export function noneOf(what: string, least: number, real: Share, control: Share): Check {
  const bar = `0 of at least ${grouped(least)}`;
  return check(
    {
      what,
      bar,
      result: shareResult,
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
