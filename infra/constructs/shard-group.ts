import { Duration, RemovalPolicy, Tags, Token } from 'aws-cdk-lib';
import type { SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import {
  CfnDBInstance,
  ClusterInstance,
  Credentials,
  DatabaseCluster,
  DBClusterStorageType,
  type DatabaseClusterProps,
  type IClusterInstance,
} from 'aws-cdk-lib/aws-rds';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnSecret, type ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { MadeUser } from '../../shared/topology/database-users.ts';
import type { GroupAddress } from '../../shared/topology/topology.ts';
import { recoveryDays, clusterName, type StoreEnvironment } from './store-environment.ts';
import { closedSecurityGroup } from './closed-security-group.ts';
import { acknowledge } from './evidence.ts';
import { GroupProxy } from './group-proxy.ts';
import { MYSQL_ENGINE, type MysqlParameters } from './mysql-parameters.ts';
import { keptLog } from './kept-log.ts';
import type { Network } from './network.ts';
import { GROUP_TAG, NODE_TAG } from './tags.ts';
import type { PasswordRotation } from './password-rotation.ts';
import { acknowledgeUnrotated, shortenSecretName, type UserSecrets } from './user-secrets.ts';

interface ShardGroupProps {
  /** `group-1`: its permanent name in the topology. */
  readonly name: string;
  readonly environment: StoreEnvironment;
  readonly network: Network;
  readonly parameters: MysqlParameters;
  readonly secretPrefix: string;
  readonly userSecrets: UserSecrets | undefined;
  readonly rotation: PasswordRotation | undefined;
  readonly encryptionKey?: IKey | undefined;
}

/** A MySQL cluster that holds many shards: a writer (node a) and readers (b, c, …). */
export class ShardGroup extends Construct {
  readonly name: string;
  readonly cluster: DatabaseCluster;
  readonly ownersSecret: ISecret;
  readonly proxy?: GroupProxy;
  /** With tokens. */
  readonly address: GroupAddress;

  constructor(scope: Construct, id: string, props: ShardGroupProps) {
    super(scope, id);
    this.name = props.name;
    const nodes = nodesOf(props);
    const path = `/aws/rds/cluster/${clusterName(props.environment, props.name)}/${LOG}`;
    const log = keptLog(this, 'error', props.environment, path);
    const security = closedSecurityGroup(this, 'security', props.network.vpc, `Cluster of ${props.name}`);
    const cluster = new DatabaseCluster(this, 'cluster', clusterProps(props, nodes, security));
    // RDS would create it without retention.
    cluster.node.addDependency(log);
    const endpoints = nodes.map((node) => {
      const instance = cluster.node.findChild(node.letter).node.defaultChild;
      if (!(instance instanceof CfnDBInstance))
        throw new Error(`${props.name}: wanted an instance ${node.letter} in its cluster`);
      Tags.of(instance).add(NODE_TAG, `${props.name}-${node.letter}`);
      return { host: instance.attrEndpointAddress, port: Token.asNumber(instance.attrEndpointPort) };
    });
    Tags.of(cluster).add(GROUP_TAG, props.name);
    const secret = cluster.node.findChild('Secret').node.defaultChild;
    shortenSecretName(secret, props.secretPrefix, props.name);
    if (!cluster.secret) throw new Error(`${props.name}: wanted a generated secret`);
    // A retained cluster needs its password.
    if (props.environment.protectedFromDeletion && secret instanceof CfnSecret)
      secret.applyRemovalPolicy(RemovalPolicy.RETAIN);
    this.ownersSecret = cluster.secret;
    if (props.rotation) props.rotation.schedule(this, 'new-password', cluster.secret);
    else acknowledgeUnrotated(cluster);
    if (props.environment.proxy)
      this.proxy = new GroupProxy(this, 'proxy', {
        group: props.name,
        environment: props.environment,
        network: props.network,
        cluster,
        ownersSecret: cluster.secret,
        userSecrets: props.userSecrets,
        encryptionKey: props.encryptionKey,
      });
    else cluster.connections.allowDefaultPortFrom(props.network.clients, 'Functions of the store');

    acknowledgeCluster(cluster, props.environment);
    this.cluster = cluster;
    const { hostname, port } = cluster.clusterEndpoint;
    const writer = { host: this.proxy?.writer ?? hostname, port };
    const reader = { host: this.proxy?.reader ?? cluster.clusterReadEndpoint.hostname, port };
    this.address = {
      name: props.name,
      writer,
      reader,
      // The first writer too: it may be a reader after a failover. With shared storage two endpoints suffice, and a
      // large stack could not export more.
      nodes: props.environment.sharedStorage ? [writer, reader].slice(0, endpoints.length) : endpoints,
      clusterArn: cluster.clusterArn,
      secret: cluster.secret.secretArn,
      ...(props.userSecrets && { userSecrets: arnsOf(props.userSecrets) }),
      sharedStorage: props.environment.sharedStorage,
    };
  }
}

function arnsOf(secrets: UserSecrets): Readonly<Record<MadeUser, string>> {
  return Object.fromEntries(Object.entries(secrets).map(([user, { secretArn }]) => [user, secretArn])) as Record<
    MadeUser,
    string
  >;
}

function acknowledgeCluster(cluster: DatabaseCluster, { protectedFromDeletion }: StoreEnvironment): void {
  acknowledge(
    cluster,
    'RDS11',
    'In isolated subnets, for one security group alone: another port hides nothing from who is inside',
  );
  acknowledge(
    cluster,
    'RDS14',
    'A cluster that goes back in time loses acknowledged cells; restores to a point in time make another cluster',
  );
  if (!protectedFromDeletion)
    acknowledge(cluster, 'RDS10', 'An environment for trying things out: destroying it leaves nothing behind');
}

/** Errors only: slow query logs hold bodies of cells. */
const LOG = 'error';

interface Node {
  readonly letter: string;
  readonly instance: IClusterInstance;
}

function nodesOf({ environment, parameters }: ShardGroupProps): readonly Node[] {
  return Array.from({ length: 1 + environment.readersPerGroup }, (_, index) => {
    const letter = 'abcdef'.charAt(index);
    // As large as the writer, so that a promotion does not shrink it.
    const scaleWithWriter = index === 1;
    // A minor upgrade could leave the long-term support line.
    return {
      letter,
      instance: ClusterInstance.serverlessV2(letter, {
        autoMinorVersionUpgrade: false,
        parameterGroup: parameters.ofInstance,
        ...(index > 0 && { scaleWithWriter }),
      }),
    };
  });
}

function clusterProps(
  { name, environment, network, parameters, encryptionKey, rotation }: ShardGroupProps,
  nodes: readonly Node[],
  securityGroup: SecurityGroup,
): DatabaseClusterProps {
  const [writer, ...readers] = nodes.map((node) => node.instance);
  return {
    engine: MYSQL_ENGINE,
    clusterIdentifier: clusterName(environment, name),
    ...(environment.storage === 'io-optimized' && { storageType: DBClusterStorageType.AURORA_IOPT1 }),
    cloudwatchLogsExports: [LOG],
    ...(writer && { writer }),
    readers,
    serverlessV2MinCapacity: environment.capacity.min,
    serverlessV2MaxCapacity: environment.capacity.max,
    parameterGroup: parameters.ofCluster,
    vpc: network.vpc,
    vpcSubnets: network.subnets,
    securityGroups: [securityGroup],
    credentials: Credentials.fromGeneratedSecret('schemaless', { ...(encryptionKey && { encryptionKey }) }),
    // Password changes use it too.
    enableDataApi: environment.access === 'data-api' || environment.breakGlass === true || rotation !== undefined,
    // Forbids nothing: an IAM login needs a user of its own kind.
    iamAuthentication: true,
    storageEncrypted: true,
    ...(encryptionKey && { storageEncryptionKey: encryptionKey }),
    deletionProtection: environment.protectedFromDeletion,
    removalPolicy: environment.protectedFromDeletion ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    backup: { retention: Duration.days(recoveryDays(environment)) },
  };
}
