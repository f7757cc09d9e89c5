import { connectionBudget, loopInstances, MANAGED, REPLACED } from '../constructs/connection-budget.ts';
import { MAX_TAILERS, TRIGGER_CONCURRENCY } from '../constructs/store-environment.ts';
import type { EnvironmentProps } from '../environments.ts';
import { ASSUMPTIONS, millionReads, millionWrites, restOf, SECONDS, sumOf } from './bill.ts';

/** Sizes of `capacity.max` in ACU. */
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 192, 256] as const;

/** More environments than a client wants to split its row keys over. */
const MOST_ENVIRONMENTS = 100;

/** Lambda's bound of the concurrent batches from one queue. */
const MOST_CONCURRENCY = 1000;
/** Lambda's minimum of unreserved instances, for the other functions. */
const LEFT_UNRESERVED = 100;

/**
 * Returns the plan for a rate of writes, and as many reads: the fewest like environments that the budget of synthesis
 * and the fixed quotas of AWS accept. `concurrency`: the executions that each needs of its account's quota. Throws an
 * Error if functions hold no connections.
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

/** Undefined if no node takes the connections, or the bounds of tailers or of a trigger's function are too low. */
function planOfOne(environment: EnvironmentProps, writes: number) {
  const { writeMs, readMs, writeCpuMs, readCpuMs, tailCpuMs, triggerMs, usedShare, writesPerGroup } = ASSUMPTIONS;
  const { managedInstances, throttle } = environment;
  const busy = (milliseconds: number): number => Math.max(1, Math.ceil((writes * milliseconds) / 1000 / usedShare));
  const atOnce = (milliseconds: number, cpuMs: number): number =>
    busy(managedInstances ? Math.max(cpuMs, milliseconds / managedInstances.requestsAtOnce) : milliseconds);
  const own = environment.instances;
  if (!own) throw new Error(`${environment.name}: wanted an environment whose functions hold connections`);
  const instances = { ...own, 'write-cells': atOnce(writeMs, writeCpuMs), 'read-cells': atOnce(readMs, readCpuMs) };
  const groups = Math.max(environment.groups, Math.ceil(writes / writesPerGroup));
  const tailers = Math.max(environment.tailers, busy(tailCpuMs));
  const triggerConcurrency = Math.max(environment.triggerConcurrency ?? TRIGGER_CONCURRENCY, busy(triggerMs));
  if (tailers > MAX_TAILERS || triggerConcurrency > MOST_CONCURRENCY) return undefined;
  const ratePerSecond = Math.max(throttle.ratePerSecond, Math.ceil((2 * writes) / usedShare));
  const burst = Math.ceil((ratePerSecond * throttle.burst) / throttle.ratePerSecond);
  const sized = { groups, tailers, instances, triggerConcurrency, throttle: { ratePerSecond, burst } };
  const reserved = Object.entries({ ...instances, ...loopInstances({ ...environment, ...sized }) })
    .filter(([name]) => !managedInstances || !MANAGED.some((one) => one === name))
    .reduce((sum, [, count]) => sum + count, 0);
  const concurrency = reserved + triggerConcurrency + LEFT_UNRESERVED;
  for (const max of SIZES.filter((size) => size >= environment.capacity.min)) {
    const changed = { ...sized, capacity: { ...environment.capacity, max } };
    const budget = connectionBudget({ ...environment, ...changed });
    if (!budget || budget.wanted > budget.allowed) continue;
    const monthlyUsd =
      sumOf(restOf({ ...environment, ...changed })) +
      ((writes * SECONDS) / 1e6) * (sumOf(millionWrites(environment)) + sumOf(millionReads(environment)));
    return { changed, connections: budget.wanted, concurrency, monthlyUsd };
  }
  return undefined;
}
