import { isDeepStrictEqual } from 'node:util';
import type { NeededResource } from './needs.ts';

/** By logical id, as `infra/constructs/account-needs.ts` writes them. */
export type DeployedResources = Readonly<Record<string, Omit<NeededResource, 'stack'>>>;

/** What a deployment finds, and what it is to leave. */
export interface DeploymentChange {
  readonly before: DeployedResources;
  readonly after: DeployedResources;
}

const FUNCTION = 'AWS::Lambda::Function';

export function added({ before, after }: DeploymentChange): readonly NeededResource[] {
  return needed(Object.entries(after).filter(([id]) => before[id] === undefined));
}

/** Those that were not there, and those that are another way than before. */
export function touched({ before, after }: DeploymentChange): readonly NeededResource[] {
  return needed(Object.entries(after).filter(([id, resource]) => !isDeepStrictEqual(before[id], resource)));
}

/** The same with the properties alone that are new. */
export function touchedProperties({ before, after }: DeploymentChange): readonly NeededResource[] {
  return needed(
    Object.entries(after).map(([id, { type, properties }]) => {
      const isNew = ([name, value]: [string, unknown]): boolean =>
        !isDeepStrictEqual(before[id]?.properties[name], value);
      return [id, { type, properties: Object.fromEntries(Object.entries(properties).filter(isNew)) }];
    }),
  );
}

/** All, where subnets come or move: what is judged of them depends on the others. */
export function allWithNewSubnets(change: DeploymentChange): readonly NeededResource[] {
  const isNew = Object.keys(change.before).length === 0;
  const moves = touched(change).some(({ type }) => type === 'AWS::EC2::Subnet');
  return isNew || moves ? needed(Object.entries(change.after)) : [];
}

/**
 * Instances of functions that are reserved beyond those of before, beside all schedules. None where no more are
 * reserved: Lambda then refuses nothing.
 */
export function moreReserved({ before, after }: DeploymentChange): readonly NeededResource[] {
  const more = reservedIn(after) - reservedIn(before);
  if (more <= 0) return [];
  const schedules = Object.entries(after).filter(([, { type }]) => type === 'AWS::Scheduler::Schedule');
  return needed([['', { type: FUNCTION, properties: { ReservedConcurrentExecutions: more } }], ...schedules]);
}

function reservedIn(resources: DeployedResources): number {
  return Object.values(resources)
    .filter(({ type }) => type === FUNCTION)
    .reduce((sum, { properties }) => sum + Number(properties['ReservedConcurrentExecutions'] ?? 0), 0);
}

/** They are of the stack that asks, or go with it: which one is no question. */
function needed(resources: readonly (readonly [string, DeployedResources[string]])[]): readonly NeededResource[] {
  return resources.map(([, resource]) => ({ ...resource, stack: '' }));
}
