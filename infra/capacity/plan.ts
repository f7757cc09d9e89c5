import { connectionBudget } from '../constructs/connection-budget.ts';
import type { EnvironmentProps } from '../environments.ts';
import { ASSUMPTIONS, millionReads, millionWrites, restOf, SECONDS, sumOf } from './bill.ts';

/** Sizes of `capacity.max` in ACU. */
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 192, 256] as const;

/**
 * Returns the demand of a rate of writes, and as many reads. Asks the budget to which synthesis holds an environment.
 * Throws an Error if functions hold no connections.
 */
export function fitOf(environment: EnvironmentProps, writes: number) {
  const { writeMs, readMs, usedShare, writesPerGroup } = ASSUMPTIONS;
  const atOnce = (milliseconds: number): number => Math.max(1, Math.ceil((writes * milliseconds) / 1000 / usedShare));
  const own = environment.instances;
  const instances = { 'write-cells': atOnce(writeMs), 'read-cells': atOnce(readMs) };
  const budgetOf = (max: number) => {
    const capacity = { ...environment.capacity, max };
    const budget = own && connectionBudget({ ...environment, capacity, instances: { ...own, ...instances } });
    if (!budget) throw new Error(`${environment.name}: wanted an environment whose functions hold connections`);
    return budget;
  };
  const { wanted: connections } = budgetOf(environment.capacity.max);
  const maxAcu = SIZES.find((max) => max >= environment.capacity.min && connections <= budgetOf(max).allowed);
  const groups = Math.max(environment.groups, Math.ceil(writes / writesPerGroup));
  return {
    groups,
    instances,
    /** Connections to a group's writer, if all instances are at work. */
    connections,
    /** The smallest `capacity.max` with which the app can be synthesized; undefined if there is none. */
    maxAcu,
    monthlyUsd:
      sumOf(restOf({ ...environment, groups })) +
      ((writes * SECONDS) / 1e6) * (sumOf(millionWrites(environment)) + sumOf(millionReads(environment))),
  };
}
