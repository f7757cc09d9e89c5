import type { RunWorld } from '../support/run-world.ts';
import { grouped } from '../support/text-table.ts';

export { grouped, type RunWorld };

/** One promise under one fault, as a command proves it. */
export interface FaultRun {
  readonly name: string;
  readonly promise: string;
  readonly fault: string;
  /** The protection that the control does without: with it off, the same checks have to fail. */
  readonly control: string;
  /** It judges how long things take: what goes on beside it would spoil that. */
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
  readonly figure: string;
  readonly bar: string;
  readonly passed: boolean;
  readonly control: Control;
}

/** The same figure without the protection. It has to be bad: a check that cannot fail proves nothing. */
interface Control {
  readonly figure: string;
  readonly failed: boolean;
}

export function holds({ passed, control }: Check): boolean {
  return passed && control.failed;
}

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

export interface Share {
  readonly wrong: number;
  readonly of: number;
}

/** "3 of 1,200" */
export function shareFigure({ wrong, of }: Share): string {
  return `${grouped(wrong)} of ${grouped(of)}`;
}

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
