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
import { QUEUE_ACTIONS } from './queue-actions.ts';
import { TABLE_ACTIONS } from './table-actions.ts';

/** By what functions in a VPC reach AWS. Each allows what the store does, by this account; more with `addToPolicy`. */
export interface NetworkEndpoints {
  readonly dynamodb: GatewayVpcEndpoint;
  readonly s3: GatewayVpcEndpoint;
  /** Where functions log in with passwords, or read the root key of sealed fields. */
  readonly secretsManager?: InterfaceVpcEndpoint;
  readonly sqs: InterfaceVpcEndpoint;
}

interface NetworkEndpointsProps {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly scope: Construct;
  /** Whether the VPC has route tables of others, which get no route to the gateways. */
  readonly isBrought: boolean;
  /** Whether functions read secrets: their passwords, or the root key of sealed fields. */
  readonly readsSecrets: boolean;
  /** Who may ask the endpoints. */
  readonly clients: SecurityGroup;
}

/** Gateway endpoints cost nothing; an interface endpoint costs by the hour, so there are only those needed. */
export function addEndpoints(network: Construct, props: NetworkEndpointsProps): NetworkEndpoints {
  const { vpc, subnets, scope, isBrought, readsSecrets, clients } = props;
  const securityGroup = closedSecurityGroup(network, 'endpoints', vpc, 'Endpoints of what functions call');
  securityGroup.connections.allowFrom(clients, Port.tcp(443), 'Functions that call AWS');
  const gateway = (id: string, service: GatewayVpcEndpointAwsService): GatewayVpcEndpoint =>
    new GatewayVpcEndpoint(scope, id, { vpc, service, ...(isBrought && { subnets: [subnets] }) });
  const endpoint = (id: string, service: InterfaceVpcEndpointAwsService): InterfaceVpcEndpoint =>
    new InterfaceVpcEndpoint(scope, id, { vpc, service, subnets, open: false, securityGroups: [securityGroup] });
  const s3 = gateway('s3', GatewayVpcEndpointAwsService.S3);
  // No bucket is named: exports go to those that users bring. Their function is in no VPC today.
  allow(s3, EXPORT_ACTIONS, ['*']);
  const sqs = endpoint('sqs', InterfaceVpcEndpointAwsService.SQS);
  // Of this account and region. Not those of the store by their names: queues may be of a stack that waits for this one,
  // and how CloudFormation shortens a name that is too long is nowhere said.
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

/** Functions may do with these tables what their roles let them. */
export function allowTables({ dynamodb }: NetworkEndpoints, arns: readonly string[]): void {
  allow(dynamodb, TABLE_ACTIONS, arns);
}

/**
 * Functions may read the secrets whose names begin so. Names, since the ARNs of forty groups would be more than a policy
 * may hold.
 */
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
