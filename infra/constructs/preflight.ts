import { ArnFormat, CustomResource, Duration, Lazy, Stack, CfnResource } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction, type Code, CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { Provider } from 'aws-cdk-lib/custom-resources';
import { Construct, type IConstruct } from 'constructs';
import { describe } from '../../shared/errors.ts';
import { acknowledge, acknowledgeArn, acknowledgeLambdaPolicies, acknowledgeVersions } from './evidence.ts';
import { keptLog } from './kept-log.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { MACHINE } from './worker.ts';
import { CfnBackupSelection } from 'aws-cdk-lib/aws-backup';
import { CfnSubnet, CfnVPC, CfnVPCEndpoint } from 'aws-cdk-lib/aws-ec2';
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

/** Context key: `off` skips the preflight. */
const SWITCH = 'schemaless:preflight';

/** Actions without a resource, by the Service Authorization Reference. */
const OF_NO_RESOURCE = [
  'backup:DescribeRegionSettings',
  'ec2:DescribeAvailabilityZones',
  'ec2:DescribeSubnets',
  'ec2:DescribeVpcEndpoints',
  'ec2:DescribeVpcs',
  'lambda:GetAccountSettings',
  'rds:DescribeAccountAttributes',
  'rds:DescribeDBEngineVersions',
  'rds:DescribeOrderableDBInstanceOptions',
  'servicequotas:GetAWSDefaultServiceQuota',
  'servicequotas:GetServiceQuota',
] as const;

/** Lists that show which names are taken. */
const LISTS = [
  ['rds:DescribeDBClusters', 'rds', 'cluster'],
  ['rds:DescribeDBProxies', 'rds', 'db-proxy'],
  ['logs:DescribeLogGroups', 'logs', 'log-group'],
] as const;

const OF_OWN_STACK = ['cloudformation:DescribeStacks', 'cloudformation:ListStackResources'] as const;

/** Throws an Error for a value other than on and off. */
export function wantsPreflight(scope: IConstruct): boolean {
  const specified: unknown = scope.node.tryGetContext(SWITCH);
  if (specified !== undefined && specified !== 'on' && specified !== 'off')
    throw new Error(`${SWITCH}: wanted on or off, got ${describe(specified)}`);
  return specified !== 'off';
}

/** Fails a deployment in its first minute with all that the account would not accept. */
export class Preflight extends Construct {
  private readonly resource: CustomResource;
  private readonly scopes: IConstruct[];

  /** Checks everything in `scope`. */
  constructor(scope: Construct, id: string, environment: StoreEnvironment, code: Code) {
    super(scope, id);
    this.scopes = [scope];
    const onEvent = new LambdaFunction(this, 'onEvent', {
      ...MACHINE,
      description: 'Schemaless: asks the account whether it takes a deployment',
      handler: 'index.onEvent',
      code,
      timeout: Duration.minutes(1),
      memorySize: 512,
      retryAttempts: 0,
      logGroup: keptLog(this, 'onEvent', environment),
    });
    allowQuestions(onEvent);
    const provider = new Provider(this, 'provider', {
      onEventHandler: onEvent,
      logGroup: keptLog(this, 'framework', environment),
    });
    for (const part of [onEvent, provider]) acknowledgeLambdaPolicies(part);
    acknowledgeVersions(provider, onEvent);
    const stack = Stack.of(this);
    this.resource = new CustomResource(this, 'resource', {
      resourceType: 'Custom::SchemalessPreflight',
      serviceToken: provider.serviceToken,
      properties: {
        // Text keeps numbers and tokens as in the template.
        Needs: Lazy.string({ produce: () => JSON.stringify(accountNeeds(stack, this.scopes)) }),
      },
    });
  }

  include(scope: IConstruct): void {
    this.scopes.push(scope);
  }

  /** These wait for the preflight. */
  holdBack(parts: readonly IConstruct[]): void {
    for (const part of parts) part.node.addDependency(this.resource);
  }
}

function allowQuestions(asking: LambdaFunction): void {
  const stack = Stack.of(asking);
  const allow = (actions: readonly string[], resource: string): void =>
    asking.addToRolePolicy(new PolicyStatement({ actions: [...actions], resources: [resource] }));
  allow(OF_NO_RESOURCE, '*');
  acknowledge(asking, 'IAM5[Resource::*]', 'Questions about an account and a region, of which AWS knows no resource');
  allow(OF_OWN_STACK, stack.stackId);
  for (const [action, service, resource] of LISTS) {
    const arn = stack.formatArn({ service, resource, resourceName: '*', arnFormat: ArnFormat.COLON_RESOURCE_NAME });
    allow([action], arn);
    acknowledgeArn(asking, arn, 'Which names are taken in an account is told by a list of all that have one');
  }
}

/** A resource with the properties that decide whether an account accepts it. */
interface AccountNeed {
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Returns what parts of an app need of an account, by logical id. Call it when all parts exist. */
function accountNeeds(asking: Stack, scopes: readonly IConstruct[]): Readonly<Record<string, AccountNeed>> {
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

const COUNTED = [
  CfnBackupSelection,
  CfnDBClusterParameterGroup,
  CfnDBParameterGroup,
  CfnDBSubnetGroup,
  CfnSchedule,
  CfnVPC,
];

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
