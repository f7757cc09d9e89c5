import { connectionBudget, MANAGED, REPLACED } from '../constructs/connection-budget.ts';
import type { EnvironmentProps } from '../environments.ts';
import { ASSUMPTIONS, millionReads, millionWrites, restOf, SECONDS, sumOf } from './bill.ts';

/** Sizes of `capacity.max` in ACU. */
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 192, 256] as const;

/** More environments than a client wants to split its row keys over. */
const MOST_ENVIRONMENTS = 100;

/**
 * Returns the plan for a rate of writes, and as many reads: the fewest like environments that the budget of synthesis
 * accepts. Throws an Error if functions hold no connections.
 */
export function planOf(environment: EnvironmentProps, writes: number) {
  for (let environments = 1; environments <= MOST_ENVIRONMENTS; environments += 1) {
    const plan = planOfOne(environment, writes / environments);
    if (plan) return { environments, ...plan, monthlyUsd: environments * plan.monthlyUsd };
  }
  throw new Error(`${environment.name}: wanted writes for ${MOST_ENVIRONMENTS} environments at most, got ${writes}`);
}

/** Returns the environment with its busy functions on managed instances. */
export function managedOf(given: EnvironmentProps): EnvironmentProps {
  const { canaryMinutes: _, ...environment } = given;
  const { connections, instances } = environment;
  return {
    ...environment,
    managedInstances: { requestsAtOnce: 64 },
    connections: { ...connections, request: 8 },
    ...(instances && {
      instances: {
        ...instances,
        ...Object.fromEntries(MANAGED.map((name) => [name, Math.ceil(instances[name] / REPLACED)])),
      },
    }),
  };
}

/** Undefined if no node takes the connections. */
function planOfOne(environment: EnvironmentProps, writes: number) {
  const { writeMs, readMs, writeCpuMs, readCpuMs, usedShare, writesPerGroup } = ASSUMPTIONS;
  const { managedInstances } = environment;
  const atOnce = (milliseconds: number, cpuMs: number): number => {
    const busyMs = managedInstances ? Math.max(cpuMs, milliseconds / managedInstances.requestsAtOnce) : milliseconds;
    return Math.max(1, Math.ceil((writes * busyMs) / 1000 / usedShare));
  };
  const own = environment.instances;
  if (!own) throw new Error(`${environment.name}: wanted an environment whose functions hold connections`);
  const instances = { ...own, 'write-cells': atOnce(writeMs, writeCpuMs), 'read-cells': atOnce(readMs, readCpuMs) };
  const groups = Math.max(environment.groups, Math.ceil(writes / writesPerGroup));
  for (const max of SIZES.filter((size) => size >= environment.capacity.min)) {
    const changed = { groups, instances, capacity: { ...environment.capacity, max } };
    const budget = connectionBudget({ ...environment, ...changed });
    if (!budget || budget.wanted > budget.allowed) continue;
    const monthlyUsd =
      sumOf(restOf({ ...environment, ...changed })) +
      ((writes * SECONDS) / 1e6) * (sumOf(millionWrites(environment)) + sumOf(millionReads(environment)));
    return { changed, connections: budget.wanted, monthlyUsd };
  }
  return undefined;
}
