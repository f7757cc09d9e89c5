import type { RunWorld } from '../support/run-world.ts';

/** One promise under one fault, as a command proves it. */
export interface FaultRun {
  readonly name: string;
  /** What has to hold, one line. */
  readonly promise: string;
  /** What is done to it, one line. */
  readonly fault: string;
  /** The protection that the control does without: with it off, the same checks have to fail. */
  readonly control: string;
  /** It judges how long things take: what goes on beside it would spoil that. */
  readonly alone?: true;
  run(world: RunWorld): Promise<RunOutcome>;
}

export interface RunOutcome {
  readonly checks: readonly Check[];
  /** Cells written and looked at. */
  readonly cells: number;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
  /** Further figures, to be read by people. */
  readonly notes: readonly string[];
}

/** A figure held against its bar, once with the protection and once without. */
export interface Check {
  readonly what: string;
  readonly figure: string;
  readonly bar: string;
  readonly passed: boolean;
  readonly control: Control;
}

/** The same figure without the protection. It has to be bad: a check that cannot fail proves nothing. */
export interface Control {
  readonly figure: string;
  readonly failed: boolean;
}

export function holds({ passed, control }: Check): boolean {
  return passed && control.failed;
}
