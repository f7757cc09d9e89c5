import type { Check } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { deliveryFigure, type DeliveryVerdict, isWhole } from './judge-deliveries.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';

/** One fault of several that a run goes through, on one stage. */
export interface Part {
  /** One line. */
  readonly fault: string;
  carryOut(world: RunWorld, stage: TriggerStage): Promise<PartOutcome>;
}

export interface PartOutcome {
  readonly checks: readonly Check[];
  /** Cells that had to be delivered, the control's not among them. */
  readonly cells: number;
  readonly notes: readonly string[];
}

/** How long a control is waited for: nothing more comes by then. */
export const CONTROL_PATIENCE_MS = 6000;

/** A scene with fewer cells shows little. */
export const LEAST_CELLS = 100;

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
    bar: `0, 0 of at least ${leastCells.toLocaleString('en-US')}`,
    passed: isWhole(real) && real.due >= leastCells,
    control: { figure: deliveryFigure(control), failed: control.due > 0 && !isWhole(control) },
  };
}
