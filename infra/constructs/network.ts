import { Peer, Port, SubnetType, type IVpc, type SecurityGroup, type SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import { checkVpc } from './brought-vpc.ts';
import { closedSecurityGroup } from './closed-security-group.ts';
import { makeVpc } from './made-vpc.ts';
import { addEndpoints, allowSecrets, allowTables, type NetworkEndpoints } from './network-endpoints.ts';
import type { StoreEnvironment } from './store-environment.ts';

export interface BroughtNetwork {
  readonly vpc: IVpc;
  /** Of two availability zones at least, and none of them public. @default the isolated ones */
  readonly subnets?: SubnetSelection | undefined;
  /**
   * Makes endpoints to DynamoDB, S3, Secrets Manager and SQS in it, where functions run in it. With `false` they reach
   * these by what is there: endpoints that let the security group `clients` in, or a NAT.
   *
   * @default true
   */
  readonly endpoints?: boolean | undefined;
}

interface NetworkProps {
  /** Says zones and addresses, and whether functions run in it and reach DynamoDB, Secrets Manager and SQS from it. */
  readonly environment: StoreEnvironment;
  /** @default one is made, of isolated subnets alone */
  readonly brought?: BroughtNetwork | undefined;
}

/**
 * The network of the clusters: isolated subnets, with neither NAT nor a way out. Who may connect to MySQL carries the
 * security group `clients`; it lives here, apart from the functions, so that the rule needs nothing of their stack.
 */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  /** Goes to MySQL and to the ports 443 that there is a route to, and nowhere else. */
  readonly clients: SecurityGroup;
  /** Where they are made. */
  readonly endpoints?: NetworkEndpoints;

  /** @throws an Error where a VPC that was brought lacks the subnets, or what was wanted of zones and addresses */
  constructor(scope: Construct, id: string, { environment, brought }: NetworkProps) {
    super(scope, id);
    const { functionsInVpc } = environment;
    this.subnets = brought?.subnets ?? { subnetType: SubnetType.PRIVATE_ISOLATED };
    if (brought) checkVpc(brought.vpc, this.subnets);
    this.vpc = brought?.vpc ?? makeVpc(this, 'vpc', environment);
    this.clients = closedSecurityGroup(this, 'clients', this.vpc, 'Functions that connect to the shard groups');
    if (!functionsInVpc) return;
    // The gateways of DynamoDB and S3 are addresses of AWS, which only the ids of its prefix lists name. These differ by
    // region, and no resource has them as an attribute: a template could know them by a look-up in the account alone.
    // What keeps the functions in are the routes: isolated subnets have those of the VPC and of the gateways.
    this.clients.addEgressRule(Peer.anyIpv4(), Port.tcp(443), 'AWS, by what there is a route to');
    if (brought?.endpoints === false) return;
    // A VPC that was brought may be of another stack, which need not know of this one.
    this.endpoints = addEndpoints(this, {
      vpc: this.vpc,
      subnets: this.subnets,
      scope: brought ? this : this.vpc,
      isBrought: brought !== undefined,
      readsSecrets: environment.databaseAuth === 'secret' || environment.sealsFields === true,
      clients: this.clients,
    });
  }

  /** Lets the functions reach the store's tables and secrets by the endpoints, where there are any. */
  allowStore(tables: readonly string[], secretPrefixes: readonly string[]): void {
    if (!this.endpoints) return;
    allowTables(this.endpoints, tables);
    allowSecrets(this.endpoints, secretPrefixes);
  }
}
