import {
  Peer,
  Port,
  SubnetType,
  type IVpc,
  type SecurityGroup,
  type SubnetSelection,
  type SelectedSubnets,
  GatewayVpcEndpoint,
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  type VpcEndpoint,
  CfnSubnet,
  FlowLogDestination,
  FlowLogTrafficType,
  IpAddresses,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import { closedSecurityGroup } from './closed-security-group.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { Aws, Stack, Annotations, Lazy, Token } from 'aws-cdk-lib';
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { QUEUE_ACTIONS, TABLE_ACTIONS } from './granted-items.ts';
import { BlockList, isIPv4 } from 'node:net';
import { keptLog } from './kept-log.ts';
import { zonesFor } from './zones.ts';
import { describe } from '../../shared/errors.ts';

export interface BroughtNetwork {
  readonly vpc: IVpc;
  readonly subnets?: SubnetSelection | undefined;
  /**
   * Makes the endpoints that functions in the VPC need. `false`: existing ones, or a NAT, let the security group
   * `clients` reach DynamoDB, S3, Secrets Manager and SQS, and with managed instances CloudWatch Logs and X-Ray.
   * @default true
   */
  readonly endpoints?: boolean | undefined;
}

/** The clusters' network: isolated subnets without NAT. Clients of MySQL carry its security group `clients`. */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  /** Reaches MySQL and routed ports 443, and nothing else. */
  readonly clients: SecurityGroup;
  private readonly endpoints?: NetworkEndpoints;

  /** Throws an Error for a given VPC without the subnets, and for invalid zones or addresses. */
  constructor(scope: Construct, id: string, environment: StoreEnvironment, brought: BroughtNetwork | undefined) {
    super(scope, id);
    const { functionsInVpc } = environment;
    this.subnets = brought?.subnets ?? { subnetType: SubnetType.PRIVATE_ISOLATED };
    if (brought) checkVpc(brought.vpc, this.subnets);
    this.vpc = brought?.vpc ?? makeVpc(this, 'vpc', environment);
    this.clients = closedSecurityGroup(this, 'clients', this.vpc, 'Functions that connect to the shard groups');
    if (!functionsInVpc) return;
    // The gateways' addresses are known by prefix lists only, whose ids differ by region and need a lookup. The
    // routes limit the functions: isolated subnets reach the VPC and the gateways.
    this.clients.addEgressRule(Peer.anyIpv4(), Port.tcp(443), 'AWS, by what there is a route to');
    if (brought?.endpoints === false) return;
    this.endpoints = addEndpoints(this, brought !== undefined, environment);
  }

  allowStore(tables: readonly string[], secretPrefixes: readonly string[]): void {
    if (!this.endpoints) return;
    const { dynamodb, secretsManager } = this.endpoints;
    allow(dynamodb, TABLE_ACTIONS, tables);
    if (!secretsManager) return;
    // By name prefixes: the ARNs of forty groups would not fit a policy.
    const secrets = secretPrefixes.map((prefix) =>
      Stack.of(secretsManager).formatArn({ service: 'secretsmanager', resource: `secret:${prefix}*` }),
    );
    allow(secretsManager, ['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'], secrets);
  }
}

/** Aurora's minimum. */
const FEWEST_ZONES = 2;

/** Rejects a VPC without usable subnets; accepts one before its lookup. Throws an Error naming the option. */
function checkVpc(vpc: IVpc, subnets: SubnetSelection): void {
  const selected = subnetsOf(vpc, subnets);
  if (selected.isPendingLookup === true) return;
  const open = new Set(vpc.publicSubnets.map(({ node }) => node.path));
  const inTheOpen = selected.subnets.filter(({ node }) => open.has(node.path));
  if (inTheOpen.length > 0)
    throw new Error(
      `subnets: wanted isolated or private ones, since the clusters must be unreachable from outside, got ${inTheOpen.map(({ node }) => node.path).join(', ')}, which are public`,
    );
  const zones = [...new Set(selected.availabilityZones)];
  if (zones.length < FEWEST_ZONES)
    throw new Error(
      `vpc: wanted subnets for the clusters in ${FEWEST_ZONES} availability zones at least, got some ${zones.length === 0 ? 'in none' : `in ${zones.join(', ')}`} in ${vpc.node.path}`,
    );
}

function subnetsOf(vpc: IVpc, subnets: SubnetSelection): SelectedSubnets {
  try {
    return vpc.selectSubnets(subnets);
  } catch (cause) {
    const { publicSubnets, privateSubnets, isolatedSubnets } = vpc;
    throw new Error(
      `vpc: wanted subnets like ${JSON.stringify(subnets)}, or others that subnets names, got ${publicSubnets.length} public, ${privateSubnets.length} private and ${isolatedSubnets.length} isolated ones in ${vpc.node.path}`,
      { cause },
    );
  }
}

/** Those whose policies follow later. */
type NetworkEndpoints = ReturnType<typeof addEndpoints>;

/** Gateway endpoints are free; interface endpoints cost by the hour, so only needed ones exist. */
function addEndpoints(
  network: Network,
  isBrought: boolean,
  { databaseAuth, sealsFields, managedInstances, tracing }: StoreEnvironment,
) {
  const readsSecrets = databaseAuth === 'secret' || sealsFields === true;
  const { vpc, subnets, clients } = network;
  // A given VPC may be of another stack, which must not depend on this one.
  const scope = isBrought ? network : vpc;
  const securityGroup = closedSecurityGroup(network, 'endpoints', vpc, 'Endpoints of what functions call');
  securityGroup.connections.allowFrom(clients, Port.tcp(443), 'Functions that call AWS');
  // Other route tables of a given VPC get no gateway routes.
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
  if (managedInstances) {
    // Managed instances send their own logs and traces.
    endpoint('logs', InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS);
    if (tracing) endpoint('traces', InterfaceVpcEndpointAwsService.XRAY);
  }
  return {
    dynamodb: gateway('dynamodb', GatewayVpcEndpointAwsService.DYNAMODB),
    ...(readsSecrets && {
      /** Only for passwords or the root key. */
      secretsManager: endpoint('secrets-manager', InterfaceVpcEndpointAwsService.SECRETS_MANAGER),
    }),
  };
}

const EXPORT_ACTIONS = [
  's3:ListBucket',
  's3:PutObject',
  's3:AbortMultipartUpload',
  's3:GetObject',
  's3:DeleteObject',
] as const;

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

/** Makes a VPC of isolated subnets without NAT. Addresses go by zone order: an added zone moves no subnet. */
function makeVpc(scope: Construct, id: string, environment: StoreEnvironment): IVpc {
  const { zones: given, cidr = DEFAULT_CIDR, name } = environment;
  const cidrMask = subnetMask(cidr);
  const { region } = Stack.of(scope);
  const zones = zonesFor(Token.isUnresolved(region) ? undefined : region, given);
  const props = {
    ipAddresses: IpAddresses.cidr(cidr),
    natGateways: 0,
    subnetConfiguration: [{ name: 'isolated', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask }],
  };
  const vpc = zones ? vpcIn(scope, id, zones, props) : new Vpc(scope, id, { ...props, maxAzs: 3 });
  // Locally, no zone can be wrong.
  if (!zones && name !== 'local')
    Annotations.of(scope).addWarningV2(
      'schemaless:zones',
      'The network is in the first zones by name. RDS Proxy may be missing there, and without a known region there are fewer than three zones. Set the region (env of the stack; -c region=…), or zones, such as use1-az1, use1-az2, use1-az4. The first deployment fixes them',
    );
  // Logs refused traffic: only functions should connect.
  vpc.addFlowLog('refused', {
    trafficType: FlowLogTrafficType.REJECT,
    destination: FlowLogDestination.toCloudWatchLogs(keptLog(vpc, 'refused', environment)),
  });
  // exactOptionalPropertyTypes conflicts with the library's types.
  return vpc as IVpc;
}

/** The CDK uses zone names, which differ between accounts; the template uses ids. */
function vpcIn(scope: Construct, id: string, zones: readonly string[], props: object): Vpc {
  const resources: CfnSubnet[] = [];
  // AWS resolves a subnet's zone name.
  const names = zones.map((zone, at) => Lazy.string({ produce: () => resources[at]?.attrAvailabilityZone ?? zone }));
  const vpc = withoutLookup(Stack.of(scope), () => new Vpc(scope, id, { ...props, availabilityZones: names }));
  for (const [at, zone] of zones.entries()) {
    const resource = vpc.isolatedSubnets[at]?.node.defaultChild;
    if (!(resource instanceof CfnSubnet)) throw new Error(`${id}: wanted a subnet in ${zone}, got none`);
    resource.availabilityZone = undefined;
    resource.availabilityZoneId = zone;
    resources.push(resource);
  }
  return vpc;
}

/** Prevents the CDK from asking AWS for zones, which would need credentials at the synthesis. */
function withoutLookup<T>(stack: Stack, make: () => T): T {
  Object.defineProperty(stack, 'availabilityZones', { value: [], configurable: true });
  try {
    return make();
  } finally {
    Reflect.deleteProperty(stack, 'availabilityZones');
  }
}

const DEFAULT_CIDR = '10.0.0.0/16';

const PRIVATE = new BlockList();
PRIVATE.addSubnet('10.0.0.0', 8);
PRIVATE.addSubnet('172.16.0.0', 12);
PRIVATE.addSubnet('192.168.0.0', 16);
const LARGEST = 16;
const SMALLEST = 20;
/** A subnet is a sixteenth of its network, so that more zones or layers move none. */
const BITS_OF_SUBNETS = 4;

/** Returns the prefix length of subnets in the range. Throws an Error that names cidr. */
export function subnetMask(cidr: string): number {
  const [, address = '', size = ''] = /^(\d{1,3}(?:\.\d{1,3}){3})\/(\d{1,2})$/u.exec(cidr) ?? [];
  const mask = Number(size);
  const isPrivate = isIPv4(address) && PRIVATE.check(address);
  const first = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
  if (!isPrivate || mask < LARGEST || mask > SMALLEST || first % 2 ** (32 - mask) !== 0)
    throw new Error(
      `cidr: wanted a private range of /${LARGEST} to /${SMALLEST} by its first address, such as ${DEFAULT_CIDR}, got ${describe(cidr)}`,
    );
  return mask + BITS_OF_SUBNETS;
}
