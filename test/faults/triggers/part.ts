import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';
import { grouped, sumOf, type Check, type RunOutcome, type RunWorld } from '../fault-run.ts';
import { deliveryFigure, isWhole, type DeliveryVerdict } from './judge-deliveries.ts';

export { deliveryFigure, isWhole };

/** A run, and the stage that all of its parts share. */
export interface Setting {
  readonly world: RunWorld;
  readonly stage: TriggerStage;
}

/** One fault of several that a run goes through, on one stage. */
export interface Part {
  /** One line. */
  readonly fault: string;
  /** Cells are those that had to be delivered, the control's not among them. */
  carryOut(setting: Setting): Promise<PartOutcome>;
}

export type PartOutcome = Omit<RunOutcome, 'engine'>;

/** A scene with fewer cells shows little. */
export const LEAST_CELLS = 100;

/** The same with its protection and, in a datastore of its own, without it: side by side. */
export function bothWays<Done>(
  name: string,
  act: (name: string, isReal: boolean) => Promise<Done>,
): Promise<[real: Done, control: Done]> {
  return Promise.all([act(name, true), act(`${name}_control`, false)]);
}

/** Carries out parts, one after the other. */
export async function inTurn(setting: Setting, parts: readonly Part[]): Promise<RunOutcome> {
  const { say } = setting.world;
  const outcomes: PartOutcome[] = [];
  for (const part of parts) {
    const start = performance.now();
    say(part.fault);
    const outcome = await part.carryOut(setting);
    outcomes.push(outcome);
    say(
      `${grouped(outcome.cells)} cells, ${((performance.now() - start) / 1000).toFixed(0)} s: ${outcome.checks.map(({ figure }) => figure).join('; ')}`,
    );
  }
  return together(setting, outcomes);
}

export function together({ stage: { engine } }: Setting, outcomes: readonly PartOutcome[]): RunOutcome {
  return {
    checks: outcomes.flatMap(({ checks }) => checks),
    cells: sumOf(outcomes.map(({ cells }) => cells)),
    engine,
    notes: outcomes.flatMap(({ notes }) => notes),
  };
}

/** Every cell was delivered, in order; and the control shows what the protection is for. */
export function deliveryCheck(
  what: string,
  real: DeliveryVerdict,
  control: DeliveryVerdict,
  leastCells = LEAST_CELLS,
): Check {
  return {
    what,
    figure: deliveryFigure(real),
    bar: `0, 0 of at least ${grouped(leastCells)}`,
    passed: isWhole(real) && real.due >= leastCells,
    control: { figure: deliveryFigure(control), failed: control.due > 0 && !isWhole(control) },
  };
}
