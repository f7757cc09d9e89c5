import { ArnFormat, CustomResource, Duration, Lazy, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction, type Code } from 'aws-cdk-lib/aws-lambda';
import { Provider } from 'aws-cdk-lib/custom-resources';
import { Construct, type IConstruct } from 'constructs';
import { describe } from '../../shared/errors.ts';
import { accountNeeds } from './account-needs.ts';
import { acknowledge, acknowledgeArn, acknowledgeLambdaPolicies, acknowledgeVersions } from './evidence.ts';
import { keptLog } from './kept-log.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { MACHINE } from './worker.ts';

interface PreflightProps {
  readonly environment: StoreEnvironment;
  /** Its resources are checked. */
  readonly scope: IConstruct;
  readonly code: Code;
}

/** Context key: `off` skips the preflight. */
const SWITCH = 'schemaless:preflight';

/** Actions without a resource, by the Service Authorization Reference. */
const OF_NO_RESOURCE = [
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
  const said: unknown = scope.node.tryGetContext(SWITCH);
  if (said !== undefined && said !== 'on' && said !== 'off')
    throw new Error(`${SWITCH}: wanted on or off, got ${describe(said)}`);
  return said !== 'off';
}

/** Fails a deployment in its first minute with all that the account would not accept. */
export class Preflight extends Construct {
  private readonly resource: CustomResource;
  private readonly scopes: IConstruct[];

  constructor(scope: Construct, id: string, { environment, scope: asked, code }: PreflightProps) {
    super(scope, id);
    this.scopes = [asked];
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
