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
import { DEFAULT_CIDR, subnetMask } from './cidr.ts';
import { keptLog } from './kept-log.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { zonesFor } from './zones.ts';

/**
 * A VPC of isolated subnets alone, one in each zone, with neither NAT nor a way out.
 *
 * A zone's addresses follow from its place in the list, so that one more at the end changes no subnet that is there.
 */
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
  // On one machine there are no zones that could be wrong.
  if (!zones && name !== 'local')
    Annotations.of(scope).addWarningV2(
      'schemaless:zones',
      'The network is in the first zones by name, in which RDS Proxy need not exist, and not in three where no region is known: name the region (env of the stack; -c region=…), or zones, such as use1-az1, use1-az2, use1-az4. They are fixed by the first deployment',
    );
  // What was refused: nobody but the functions should knock.
  vpc.addFlowLog('refused', {
    trafficType: FlowLogTrafficType.REJECT,
    destination: FlowLogDestination.toCloudWatchLogs(keptLog(vpc, 'refused', environment)),
  });
  // The compiler's exactOptionalPropertyTypes finds the library's class at odds with its own interface.
  return vpc as IVpc;
}

/** The CDK knows zones by their names, which are others in each account; the template has their ids. */
function vpcIn(scope: Construct, id: string, zones: readonly string[], props: object): Vpc {
  const resources: CfnSubnet[] = [];
  // Whoever asks a subnet for the name of its zone gets it from AWS.
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

/**
 * With an account and a region the CDK asks AWS which zones there are, even where they are given: a synthesis would need
 * credentials. A stack of one's own would say otherwise by overriding this; here it may be anybody's.
 */
function withoutLookup<T>(stack: Stack, make: () => T): T {
  Object.defineProperty(stack, 'availabilityZones', { value: [], configurable: true });
  try {
    return make();
  } finally {
    Reflect.deleteProperty(stack, 'availabilityZones');
  }
}
