import type { AlarmWorld } from './alarm-world.ts';

/** Makes good what was done. */
export type Cure = () => Promise<unknown>;

/** A fault for which alarms ring, and what silences them. */
export interface AlarmCase {
  /** Of the runbook: the alarms whose texts name these ring. */
  readonly sections: readonly string[];
  /** Each of them does. @default one of each kind, which stands for those of other triggers, or groups */
  readonly each?: true;
  /** What is done, one line. */
  readonly fault: string;
  /** What the runbook says to do, one line. */
  readonly cure: string;
  /** Minutes in which they ring, on a machine that has other work to do. @default 10 */
  readonly withinMinutes?: number;
  breaks(world: AlarmWorld): Promise<Cure>;
}
