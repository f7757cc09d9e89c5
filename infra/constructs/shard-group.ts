import { Duration, RemovalPolicy, Tags, Token } from 'aws-cdk-lib';
import type { SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import {
  CfnDBInstance,
  ClusterInstance,
  Credentials,
  DatabaseCluster,
  DBClusterStorageType,
  type DatabaseClusterProps,
  AuroraMysqlEngineVersion,
  DatabaseClusterEngine,
  ParameterGroup,
} from 'aws-cdk-lib/aws-rds';
import { CfnSecret, type ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { ofMadeUsers } from '../../shared/topology/database-users.ts';
import type { GroupAddress } from '../../shared/topology/topology.ts';
import { recoveryDays, clusterName, type StoreEnvironment, GROUP_TAG, NODE_TAG } from './store-environment.ts';
import { closedSecurityGroup } from './closed-security-group.ts';
import { acknowledge } from './evidence.ts';
import { GroupProxy, type GroupParts } from './group-proxy.ts';
import { keptLog, removalOf } from './kept-log.ts';
import type { PasswordRotation } from './password-rotation.ts';
import { acknowledgeUnrotated, shortenSecretName } from './secrets.ts';

interface ShardGroupParts extends GroupParts {
  readonly rotation: PasswordRotation | undefined;
}

/** A MySQL cluster that holds many shards: a writer (node a) and readers (b, c, …). */
export class ShardGroup extends Construct {
  /** `group-1`: its permanent name in the topology. */
  readonly name: string;
  readonly cluster: DatabaseCluster;
  readonly ownersSecret: ISecret;
  readonly proxy?: GroupProxy;
  /** With tokens. */
  readonly address: GroupAddress;

  constructor(scope: Construct, name: string, storage: ShardGroupParts, parameters: MysqlParameters) {
    super(scope, name);
    const { environment, network, prefix, userSecrets, rotation } = storage;
    this.name = name;
    const nodes = nodesOf(environment, parameters);
    const path = `/aws/rds/cluster/${clusterName(environment, name)}/${LOG}`;
    const log = keptLog(this, 'error', environment, path);
    const security = closedSecurityGroup(this, 'security', network.vpc, `Cluster of ${name}`);
    const cluster = new DatabaseCluster(this, 'cluster', clusterProps(name, storage, parameters, nodes, security));
    // RDS would create it without retention.
    cluster.node.addDependency(log);
    const endpoints = nodes.map((node) => {
      const instance = cluster.node.findChild(node.letter).node.defaultChild;
      if (!(instance instanceof CfnDBInstance))
        throw new Error(`${name}: wanted an instance ${node.letter} in its cluster`);
      Tags.of(instance).add(NODE_TAG, `${name}-${node.letter}`);
      return { host: instance.attrEndpointAddress, port: Token.asNumber(instance.attrEndpointPort) };
    });
    Tags.of(cluster).add(GROUP_TAG, name);
    const secret = cluster.node.findChild('Secret').node.defaultChild;
    shortenSecretName(secret, prefix, name);
    if (!cluster.secret) throw new Error(`${name}: wanted a generated secret`);
    // A retained cluster needs its password.
    if (secret instanceof CfnSecret) secret.applyRemovalPolicy(removalOf(environment));
    this.cluster = cluster;
    this.ownersSecret = cluster.secret;
    if (rotation) rotation.schedule(this, 'new-password', cluster.secret);
    else acknowledgeUnrotated(cluster);
    if (environment.proxy) this.proxy = new GroupProxy(this, 'proxy', storage);
    else cluster.connections.allowDefaultPortFrom(network.clients, 'Functions of the store');

    acknowledgeCluster(cluster, environment);
    const { hostname, port } = cluster.clusterEndpoint;
    const writer = { host: this.proxy?.writer ?? hostname, port };
    const reader = { host: this.proxy?.reader ?? cluster.clusterReadEndpoint.hostname, port };
    this.address = {
      name,
      writer,
      reader,
      // The first writer too: it may be a reader after a failover. With shared storage two endpoints suffice, and a
      // large stack could not export more.
      nodes: environment.sharedStorage ? [writer, reader].slice(0, endpoints.length) : endpoints,
      clusterArn: cluster.clusterArn,
      secret: cluster.secret.secretArn,
      ...(userSecrets && { userSecrets: ofMadeUsers((user) => userSecrets[user].secretArn) }),
      sharedStorage: environment.sharedStorage,
    };
  }
}

function acknowledgeCluster(cluster: DatabaseCluster, { protectedFromDeletion }: StoreEnvironment): void {
  acknowledge(
    cluster,
    'RDS11',
    'In isolated subnets, for one security group alone: another port hides nothing from clients inside',
  );
  acknowledge(
    cluster,
    'RDS14',
    'A backtracked cluster loses acknowledged cells; restores to a point in time create another cluster',
  );
  if (!protectedFromDeletion)
    acknowledge(cluster, 'RDS10', 'An environment for trying things out: destroying it leaves nothing behind');
}

/** Errors only: slow query logs hold bodies of cells. */
const LOG = 'error';

type Node = ReturnType<typeof nodesOf>[number];

function nodesOf({ readersPerGroup }: StoreEnvironment, parameters: MysqlParameters) {
  return Array.from({ length: 1 + readersPerGroup }, (_, index) => {
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
  name: string,
  { environment, network, encryptionKey, rotation }: ShardGroupParts,
  parameters: MysqlParameters,
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
    // Forbids nothing: an IAM login needs its own kind of user.
    iamAuthentication: true,
    storageEncrypted: true,
    ...(encryptionKey && { storageEncryptionKey: encryptionKey }),
    deletionProtection: environment.protectedFromDeletion,
    removalPolicy: environment.protectedFromDeletion ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    backup: { retention: Duration.days(recoveryDays(environment)) },
  };
}

/** The long-term support line to April 2028; MySQL 8.0.42. */
const MYSQL_ENGINE = DatabaseClusterEngine.auroraMysql({ version: AuroraMysqlEngineVersion.VER_3_10_4 });

/** Server settings that the store relies on; durability is Aurora's default. Readers need no binary log. */
export class MysqlParameters extends Construct {
  readonly ofCluster: ParameterGroup;
  readonly ofInstance: ParameterGroup;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.ofCluster = new ParameterGroup(this, 'cluster', {
      engine: MYSQL_ENGINE,
      description: 'Schemaless: settings of the cluster',
      parameters: {
        time_zone: 'UTC',
        require_secure_transport: 'ON',
      },
    });
    this.ofInstance = new ParameterGroup(this, 'instance', {
      engine: MYSQL_ENGINE,
      description: 'Schemaless: settings of each node',
      parameters: {
        // A write that waits for a row or a table fails early, and is buffered. Set here, since RDS Proxy pins a
        // connection whose session sets them ("Avoiding pinning an RDS Proxy").
        innodb_lock_wait_timeout: '1',
        lock_wait_timeout: '1',
        max_allowed_packet: String(64 * 1024 * 1024),
      },
    });
  }
}
