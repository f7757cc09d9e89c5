import {
  FlowLogTrafficType,
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpointAwsService,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
  type IVpc,
  type SubnetSelection,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';

export interface NetworkProps {
  /** Functions run in it, and reach DynamoDB, Secrets Manager and SQS from it. */
  readonly functionsInVpc: boolean;
}

/**
 * The network of the clusters: isolated subnets, with neither NAT nor a way out. Who may connect to MySQL carries the
 * security group `clients`; it lives here, apart from the functions, so that the rule needs nothing of their stack.
 */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection = { subnetType: SubnetType.PRIVATE_ISOLATED };
  readonly clients: SecurityGroup;

  constructor(scope: Construct, id: string, props: NetworkProps) {
    super(scope, id);
    const vpc = new Vpc(this, 'vpc', {
      maxAzs: 3,
      natGateways: 0,
      subnetConfiguration: [{ name: 'isolated', subnetType: SubnetType.PRIVATE_ISOLATED }],
    });
    // What was refused: nobody but the functions should knock.
    vpc.addFlowLog('refused', { trafficType: FlowLogTrafficType.REJECT });
    // The compiler's exactOptionalPropertyTypes finds the library's class at odds with its own interface.
    this.vpc = vpc as IVpc;
    this.clients = new SecurityGroup(this, 'clients', {
      vpc: this.vpc,
      description: 'Functions that connect to the shard groups',
    });
    if (!props.functionsInVpc) return;

    // Gateway endpoints cost nothing; an interface endpoint costs by the hour, so there are only the two needed.
    vpc.addGatewayEndpoint('dynamodb', { service: GatewayVpcEndpointAwsService.DYNAMODB });
    vpc.addGatewayEndpoint('s3', { service: GatewayVpcEndpointAwsService.S3 });
    const addEndpoint = (id: string, service: InterfaceVpcEndpointAwsService, use: string): void => {
      const endpoint = vpc.addInterfaceEndpoint(id, { service, subnets: this.subnets, open: false });
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
