import { planAppend } from './append-statements.ts';
import { planBuffer } from './buffer-statements.ts';
import { planCellRead } from './cell-statements.ts';
import { planLogRead, planShardRow } from './log-statements.ts';
import { planNumbered } from './numbered-statements.ts';
import type { Plan, Planner } from './plan.ts';

const PLANNERS: readonly Planner[] = [planBuffer, planAppend, planNumbered, planCellRead, planLogRead, planShardRow];

/** Index hints and join orders, which affect no result. */
const WAYS = / FORCE INDEX \(\w+\)| \/\*\+ INDEX\(\w+ \w+\) \*\/|(?<= )STRAIGHT_(?=JOIN )/g;

const known = new Map<string, Plan>();

/**
 * Plans a statement of `shared/sql/statements` by its text. An unknown text is an error and not a guess: a changed
 * statement needs its new meaning here.
 */
export function planOf(sql: string): Plan {
  let plan = known.get(sql);
  if (!plan) {
    const meant = sql.replaceAll(WAYS, '');
    for (const planner of PLANNERS) plan ??= planner(meant);
    if (!plan) throw new Error(`the simulated servers do not understand: ${sql}`);
    known.set(sql, plan);
  }
  return plan;
}
