import {
  FlowLogTrafficType,
  GatewayVpcEndpoint,
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
  type IVpc,
  type SubnetSelection,
} from 'aws-cdk-lib/aws-ec2';
import { Construct, type IConstruct } from 'constructs';
import { checkVpc } from './brought-vpc.ts';

/** A network that is there already. */
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

export interface NetworkProps {
  /** Functions run in it, and reach DynamoDB, Secrets Manager and SQS from it. */
  readonly functionsInVpc: boolean;
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
  readonly clients: SecurityGroup;

  /** @throws an Error where a VPC that was brought lacks the subnets */
  constructor(scope: Construct, id: string, { functionsInVpc, brought }: NetworkProps) {
    super(scope, id);
    this.subnets = brought?.subnets ?? { subnetType: SubnetType.PRIVATE_ISOLATED };
    if (brought) checkVpc(brought.vpc, this.subnets);
    this.vpc = brought?.vpc ?? this.makeVpc();
    this.clients = new SecurityGroup(this, 'clients', {
      vpc: this.vpc,
      description: 'Functions that connect to the shard groups',
    });
    // A VPC that was brought may be of another stack, which need not know of this one.
    if (functionsInVpc && brought?.endpoints !== false) this.addEndpoints(brought ? this : this.vpc);
  }

  private makeVpc(): IVpc {
    const vpc = new Vpc(this, 'vpc', {
      maxAzs: 3,
      natGateways: 0,
      subnetConfiguration: [{ name: 'isolated', subnetType: SubnetType.PRIVATE_ISOLATED }],
    });
    // What was refused: nobody but the functions should knock.
    vpc.addFlowLog('refused', { trafficType: FlowLogTrafficType.REJECT });
    // The compiler's exactOptionalPropertyTypes finds the library's class at odds with its own interface.
    return vpc as IVpc;
  }

  /** Gateway endpoints cost nothing; an interface endpoint costs by the hour, so there are only the two needed. */
  private addEndpoints(scope: Construct): void {
    const { vpc, subnets } = this;
    const addGateway = (id: string, service: GatewayVpcEndpointAwsService): IConstruct =>
      new GatewayVpcEndpoint(scope, id, { vpc, service, ...(scope === this && { subnets: [subnets] }) });
    addGateway('dynamodb', GatewayVpcEndpointAwsService.DYNAMODB);
    addGateway('s3', GatewayVpcEndpointAwsService.S3);
    const addEndpoint = (id: string, service: InterfaceVpcEndpointAwsService, use: string): void => {
      const endpoint = new InterfaceVpcEndpoint(scope, id, { vpc, service, subnets, open: false });
      endpoint.connections.allowFrom(this.clients, Port.tcp(443), use);
    };
    addEndpoint(
      'secrets-manager',
      InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
      'Functions fetch the secrets of the shard groups',
    );
    addEndpoint('sqs', InterfaceVpcEndpointAwsService.SQS, 'Tailers send cells to the queues of the triggers');
  }
}
