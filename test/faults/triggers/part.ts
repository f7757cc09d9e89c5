import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';
import { grouped, sumOf, type Check, type RunOutcome, type RunWorld } from '../fault-run.ts';
import { deliveryResult, isWhole, type DeliveryVerdict } from './deliveries.ts';

export interface Setting {
  readonly world: RunWorld;
  readonly stage: TriggerStage;
}

/** One of several faults of a run, on one stage. */
export interface Part {
  readonly fault: string;
  /** Its cells are those that had to be delivered, without the control's. */
  carryOut(setting: Setting): Promise<RunOutcome>;
}

interface TwoWays<Done> {
  readonly name: string;
  readonly fault: string;
  readonly inTurn?: boolean;
  act(setting: Setting, name: string, isReal: boolean): Promise<Done>;
  judge(real: Done, control: Done): Omit<RunOutcome, 'notes'> & Partial<Pick<RunOutcome, 'notes'>>;
}

/** Runs the same with its protection and, in a separate datastore, without it: in parallel. */
export function twoWays<Done>({ name, fault, inTurn = false, act, judge }: TwoWays<Done>): Part {
  return {
    fault,
    async carryOut(setting) {
      const first = act(setting, name, true);
      if (inTurn) await first;
      const [real, control] = await Promise.all([first, act(setting, `${name}_control`, false)]);
      return { notes: [], ...judge(real, control) };
    },
  };
}

export async function carryOutAll(setting: Setting, parts: readonly Part[]): Promise<RunOutcome> {
  const { say } = setting.world;
  const outcomes: RunOutcome[] = [];
  for (const part of parts) {
    const start = performance.now();
    say(part.fault);
    const outcome = await part.carryOut(setting);
    outcomes.push(outcome);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    say(`${grouped(outcome.cells)} cells, ${seconds} s: ${outcome.checks.map(({ result }) => result).join('; ')}`);
  }
  return {
    checks: outcomes.flatMap(({ checks }) => checks),
    cells: sumOf(outcomes.map(({ cells }) => cells)),
    notes: outcomes.flatMap(({ notes }) => notes),
  };
}

/** Fewer cells in a scene show little. */
export const LEAST_CELLS = 100;

/** Checks that every cell was delivered in order, and that the control shows the need for the protection. */
export function deliveryCheck(
  what: string,
  real: DeliveryVerdict,
  control: DeliveryVerdict,
  leastCells = LEAST_CELLS,
): Check {
  return {
    what,
    result: deliveryResult(real),
    bar: `0, 0 of at least ${grouped(leastCells)}`,
    passed: isWhole(real) && real.due >= leastCells,
    control: { result: deliveryResult(control), failed: control.due > 0 && !isWhole(control) },
  };
}
