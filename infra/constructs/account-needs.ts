import { CfnResource, Stack } from 'aws-cdk-lib';
import { CfnSubnet, CfnVPC, CfnVPCEndpoint } from 'aws-cdk-lib/aws-ec2';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import {
  CfnDBCluster,
  CfnDBClusterParameterGroup,
  CfnDBInstance,
  CfnDBParameterGroup,
  CfnDBProxy,
  CfnDBSubnetGroup,
} from 'aws-cdk-lib/aws-rds';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import type { IConstruct } from 'constructs';

/** A resource with the properties that decide whether an account accepts it. */
interface AccountNeed {
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Returns what parts of an app need of an account, by logical id. Call it when all parts exist. */
export function accountNeeds(asking: Stack, scopes: readonly IConstruct[]): Readonly<Record<string, AccountNeed>> {
  const resources = scopes.flatMap(({ node }) => node.findAll()).filter((part) => CfnResource.isCfnResource(part));
  return Object.fromEntries(
    resources.flatMap((resource): (readonly [string, AccountNeed])[] => {
      const decisive = decisiveOf(resource);
      if (!decisive) return [];
      const stack = Stack.of(resource);
      const id = String(stack.resolve(resource.logicalId));
      const properties = Object(stack.resolve(decisive)) as AccountNeed['properties'];
      if (Object.keys(properties).length === 0 && !isCounted(resource)) return [];
      const need = { type: resource.cfnResourceType, properties };
      return [[stack === asking ? id : `${stack.node.id}/${id}`, need]];
    }),
  );
}

/** Undefined for what any account accepts. */
function decisiveOf(resource: CfnResource): object | undefined {
  if (resource instanceof CfnDBCluster) return ofCluster(resource);
  if (resource instanceof CfnDBInstance) return { DBInstanceClass: resource.dbInstanceClass };
  if (resource instanceof CfnDBProxy) return { DBProxyName: resource.dbProxyName };
  if (resource instanceof CfnSubnet)
    return { AvailabilityZone: resource.availabilityZone, AvailabilityZoneId: resource.availabilityZoneId };
  if (resource instanceof CfnVPCEndpoint) return { VpcEndpointType: resource.vpcEndpointType };
  if (resource instanceof CfnLogGroup) return { LogGroupName: resource.logGroupName };
  if (resource instanceof CfnFunction) return { ReservedConcurrentExecutions: resource.reservedConcurrentExecutions };
  return isCounted(resource) ? {} : undefined;
}

const COUNTED = [CfnDBClusterParameterGroup, CfnDBParameterGroup, CfnDBSubnetGroup, CfnSchedule, CfnVPC];

/** Only the number of these resources matters. */
function isCounted(resource: CfnResource): boolean {
  return COUNTED.some((type) => resource instanceof type);
}

function ofCluster(cluster: CfnDBCluster): object {
  const scaling = Object(Stack.of(cluster).resolve(cluster.serverlessV2ScalingConfiguration)) as {
    readonly minCapacity?: number;
    readonly maxCapacity?: number;
  };
  return {
    DBClusterIdentifier: cluster.dbClusterIdentifier,
    Engine: cluster.engine,
    EngineVersion: cluster.engineVersion,
    EnableHttpEndpoint: cluster.enableHttpEndpoint,
    ServerlessV2ScalingConfiguration: { MinCapacity: scaling.minCapacity, MaxCapacity: scaling.maxCapacity },
  };
}
