import { isDeepStrictEqual } from 'node:util';
import type { NeededResource } from './needs.ts';

export type DeployedResources = Readonly<Record<string, Omit<NeededResource, 'stack'>>>;

/** The resources before and after a deployment. */
export interface DeploymentChange {
  readonly before: DeployedResources;
  readonly after: DeployedResources;
}

const FUNCTION = 'AWS::Lambda::Function';

export function added({ before, after }: DeploymentChange): readonly NeededResource[] {
  return needed(Object.entries(after).filter(([id]) => before[id] === undefined));
}

export function touched({ before, after }: DeploymentChange): readonly NeededResource[] {
  return needed(Object.entries(after).filter(([id, resource]) => !isDeepStrictEqual(before[id], resource)));
}

/** The same with new properties only. */
export function touchedProperties({ before, after }: DeploymentChange): readonly NeededResource[] {
  return needed(
    Object.entries(after).map(([id, { type, properties }]) => {
      const isNew = ([name, value]: [string, unknown]): boolean =>
        !isDeepStrictEqual(before[id]?.properties[name], value);
      return [id, { type, properties: Object.fromEntries(Object.entries(properties).filter(isNew)) }];
    }),
  );
}

/** All resources if subnets change, since zones depend on each other. */
export function allWithNewSubnets(change: DeploymentChange): readonly NeededResource[] {
  const isNew = Object.keys(change.before).length === 0;
  const moves = touched(change).some(({ type }) => type === 'AWS::EC2::Subnet');
  return isNew || moves ? needed(Object.entries(change.after)) : [];
}

/** Newly reserved instances, with all schedules. Empty if no more are reserved. */
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

/** The stack does not matter here. */
function needed(resources: readonly (readonly [string, DeployedResources[string]])[]): readonly NeededResource[] {
  return resources.map(([, resource]) => ({ ...resource, stack: '' }));
}
