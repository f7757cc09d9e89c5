import type { ShardGroup } from '../../mysql/shard-groups.ts';
import type { ResourceAddress } from '../template.ts';

/** What is really there on this machine, for the resources of the template to be made on. */
export interface World {
  readonly groups: readonly ShardGroup[];
  /** Where the HTTP API answers, without a slash at the end. */
  readonly httpUrl: string;
  readonly sqsUrl: string;
  /**
   * Behind the names of queues and tables that the template gives none. @default nothing, where nobody else makes any
   */
  readonly queueSuffix?: string;
  readonly tableSuffix?: string;
}

/** What a kind of resource may ask when its values are wanted. */
export interface Context {
  readonly world: World;
  property(address: ResourceAddress, name: string): unknown;
}

/** How a type of resource appears to the others: what `Ref` and `Fn::GetAtt` give for it. */
export interface ResourceKind {
  ref(address: ResourceAddress, context: Context): string;
  /** Undefined for an attribute that is not known. */
  attribute(address: ResourceAddress, name: string, context: Context): unknown;
}

/** The name of a resource that was not given one: the same at each start. */
export function physicalName({ stack, logicalId }: ResourceAddress): string {
  return `${stack.name}-${logicalId}`;
}

/** A property that has to be text. */
export function textProperty(context: Pick<Context, 'property'>, address: ResourceAddress, name: string): string {
  const value = context.property(address, name);
  if (typeof value !== 'string')
    throw new Error(`${address.logicalId}.${name}: wanted text, got ${JSON.stringify(value)}`);
  return value;
}
