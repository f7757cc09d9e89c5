import { localArn } from '../../arn.ts';
import type { ShardGroup } from '../../mysql/shard-groups.ts';
import type { ResourceAddress } from '../template.ts';

/** The servers on this machine for the template's resources. */
export interface World {
  readonly groups: readonly ShardGroup[];
  readonly httpUrl: string;
  readonly sqsUrl: string;
  /** Added to the names of queues and tables, where other stacks share the service. */
  readonly queueSuffix?: string;
  readonly tableSuffix?: string;
}

export interface Context {
  readonly world: World;
  property(address: ResourceAddress, name: string): unknown;
}

/** A resource type's values of `Ref` and `Fn::GetAtt`. */
export interface ResourceKind {
  ref(address: ResourceAddress, context: Context): string;
  /** Undefined for an unknown attribute. */
  attribute(address: ResourceAddress, name: string, context: Context): unknown;
}

/** Known by its name alone. */
export const NAMED: ResourceKind = { ref: physicalName, attribute: () => undefined };

/** The name of an unnamed resource: the same at each start. */
export function physicalName({ stack, logicalId }: ResourceAddress): string {
  return `${stack.name}-${logicalId}`;
}

export function textProperty(context: Pick<Context, 'property'>, address: ResourceAddress, name: string): string {
  const value = context.property(address, name);
  if (typeof value !== 'string')
    throw new Error(`${address.logicalId}.${name}: wanted text, got ${JSON.stringify(value)}`);
  return value;
}

/** Properties name a function by its ARN, or by its name. */
export function functionArn(called: string): string {
  return called.startsWith('arn:') ? called : localArn('lambda', `function:${called}`);
}
