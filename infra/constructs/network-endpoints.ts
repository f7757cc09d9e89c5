import { Aws, Stack } from 'aws-cdk-lib';
import {
  GatewayVpcEndpoint,
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  Port,
  type IVpc,
  type SecurityGroup,
  type SubnetSelection,
  type VpcEndpoint,
} from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { closedSecurityGroup } from './closed-security-group.ts';
import { QUEUE_ACTIONS, TABLE_ACTIONS } from './granted-items.ts';

export interface NetworkEndpoints {
  readonly dynamodb: GatewayVpcEndpoint;
  readonly s3: GatewayVpcEndpoint;
  /** Only for passwords or the root key. */
  readonly secretsManager?: InterfaceVpcEndpoint;
  readonly sqs: InterfaceVpcEndpoint;
}

interface NetworkEndpointsProps {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly scope: Construct;
  /** Other route tables of a given VPC get no gateway routes. */
  readonly isBrought: boolean;
  readonly readsSecrets: boolean;
  readonly clients: SecurityGroup;
}

/** Gateway endpoints are free; interface endpoints cost by the hour, so only needed ones exist. */
export function addEndpoints(network: Construct, props: NetworkEndpointsProps): NetworkEndpoints {
  const { vpc, subnets, scope, isBrought, readsSecrets, clients } = props;
  const securityGroup = closedSecurityGroup(network, 'endpoints', vpc, 'Endpoints of what functions call');
  securityGroup.connections.allowFrom(clients, Port.tcp(443), 'Functions that call AWS');
  const gateway = (id: string, service: GatewayVpcEndpointAwsService): GatewayVpcEndpoint =>
    new GatewayVpcEndpoint(scope, id, { vpc, service, ...(isBrought && { subnets: [subnets] }) });
  const endpoint = (id: string, service: InterfaceVpcEndpointAwsService): InterfaceVpcEndpoint =>
    new InterfaceVpcEndpoint(scope, id, { vpc, service, subnets, open: false, securityGroups: [securityGroup] });
  const s3 = gateway('s3', GatewayVpcEndpointAwsService.S3);
  // Exports go to users' buckets.
  allow(s3, EXPORT_ACTIONS, ['*']);
  const sqs = endpoint('sqs', InterfaceVpcEndpointAwsService.SQS);
  // All queues of the account and region: queues may be of a stack that waits for this one, and CloudFormation's
  // short names are unknown.
  allow(sqs, QUEUE_ACTIONS, [Stack.of(network).formatArn({ service: 'sqs', resource: '*' })]);
  return {
    dynamodb: gateway('dynamodb', GatewayVpcEndpointAwsService.DYNAMODB),
    s3,
    ...(readsSecrets && {
      secretsManager: endpoint('secrets-manager', InterfaceVpcEndpointAwsService.SECRETS_MANAGER),
    }),
    sqs,
  };
}

const EXPORT_ACTIONS = [
  's3:ListBucket',
  's3:PutObject',
  's3:AbortMultipartUpload',
  's3:GetObject',
  's3:DeleteObject',
] as const;

export function allowTables({ dynamodb }: NetworkEndpoints, arns: readonly string[]): void {
  allow(dynamodb, TABLE_ACTIONS, arns);
}

/** By name prefixes: the ARNs of forty groups would not fit a policy. */
export function allowSecrets({ secretsManager }: NetworkEndpoints, prefixes: readonly string[]): void {
  if (!secretsManager) return;
  const arns = prefixes.map((prefix) =>
    Stack.of(secretsManager).formatArn({ service: 'secretsmanager', resource: `secret:${prefix}*` }),
  );
  allow(secretsManager, ['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'], arns);
}

function allow(endpoint: VpcEndpoint, actions: readonly string[], resources: readonly string[]): void {
  endpoint.addToPolicy(
    new PolicyStatement({
      principals: [new AnyPrincipal()],
      actions: [...actions],
      resources: [...resources],
      conditions: { StringEquals: { 'aws:PrincipalAccount': Aws.ACCOUNT_ID } },
    }),
  );
}
