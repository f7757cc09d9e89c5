import {
  Peer,
  Port,
  SubnetType,
  type IVpc,
  type SecurityGroup,
  type SubnetSelection,
  type SelectedSubnets,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import { closedSecurityGroup } from './closed-security-group.ts';
import { makeVpc } from './made-vpc.ts';
import { addEndpoints, allowSecrets, allowTables, type NetworkEndpoints } from './network-endpoints.ts';
import type { StoreEnvironment } from './store-environment.ts';

export interface BroughtNetwork {
  readonly vpc: IVpc;
  readonly subnets?: SubnetSelection | undefined;
  /**
   * Makes the endpoints that functions in the VPC need. `false`: existing ones, or a NAT, let the security group
   * `clients` reach DynamoDB, S3, Secrets Manager and SQS. @default true
   */
  readonly endpoints?: boolean | undefined;
}

interface NetworkProps {
  readonly environment: StoreEnvironment;
  readonly brought?: BroughtNetwork | undefined;
}

/** The clusters' network: isolated subnets without NAT. Clients of MySQL carry its security group `clients`. */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  /** Reaches MySQL and routed ports 443, and nothing else. */
  readonly clients: SecurityGroup;
  readonly endpoints?: NetworkEndpoints;

  /** Throws an Error for a given VPC without the subnets, and for invalid zones or addresses. */
  constructor(scope: Construct, id: string, { environment, brought }: NetworkProps) {
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
    // A given VPC may be of another stack, which must not depend on this one.
    this.endpoints = addEndpoints(this, {
      vpc: this.vpc,
      subnets: this.subnets,
      scope: brought ? this : this.vpc,
      isBrought: brought !== undefined,
      readsSecrets: environment.databaseAuth === 'secret' || environment.sealsFields === true,
      clients: this.clients,
    });
  }

  allowStore(tables: readonly string[], secretPrefixes: readonly string[]): void {
    if (!this.endpoints) return;
    allowTables(this.endpoints, tables);
    allowSecrets(this.endpoints, secretPrefixes);
  }
}

/** Aurora's minimum. */
const FEWEST_ZONES = 2;

/** Rejects a VPC without usable subnets; accepts one not looked up yet. Throws an Error naming the option. */
export function checkVpc(vpc: IVpc, subnets: SubnetSelection): void {
  const selected = subnetsOf(vpc, subnets);
  if (selected.isPendingLookup === true) return;
  const open = new Set(vpc.publicSubnets.map(({ node }) => node.path));
  const inTheOpen = selected.subnets.filter(({ node }) => open.has(node.path));
  if (inTheOpen.length > 0)
    throw new Error(
      `subnets: wanted isolated or private ones, since nobody outside may reach the clusters, got ${inTheOpen.map(({ node }) => node.path).join(', ')}, which are public`,
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
