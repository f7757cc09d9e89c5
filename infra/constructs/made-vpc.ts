import { BlockList, isIPv4 } from 'node:net';
import { Annotations, Lazy, Stack, Token } from 'aws-cdk-lib';
import {
  CfnSubnet,
  FlowLogDestination,
  FlowLogTrafficType,
  IpAddresses,
  SubnetType,
  Vpc,
  type IVpc,
} from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import { keptLog } from './kept-log.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { zonesFor } from './zones.ts';
import { describe } from '../../shared/errors.ts';

/** Makes a VPC of isolated subnets without NAT. Addresses go by zone order: an added zone moves no subnet. */
export function makeVpc(scope: Construct, id: string, environment: StoreEnvironment): IVpc {
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
