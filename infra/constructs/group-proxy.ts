import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { Port } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement, Role, type IGrantable } from 'aws-cdk-lib/aws-iam';
import {
  DatabaseProxy,
  DatabaseProxyEndpoint,
  DefaultAuthScheme,
  ProxyEndpointTargetRole,
  ProxyTarget,
  type DatabaseCluster,
} from 'aws-cdk-lib/aws-rds';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { MADE_USERS, userName, type DatabaseUser } from '../../shared/topology/database-users.ts';
import { closedSecurityGroup } from './closed-security-group.ts';
import { PROXY_PERCENT } from './connection-budget.ts';
import { acknowledge, acknowledgeArn } from './evidence.ts';
import { grantSecretKey } from './key-uses.ts';
import { keptLog } from './kept-log.ts';
import type { UserSecrets } from './secrets.ts';
import type { StorageParts } from './storage-parts.ts';

/** The parts that shard groups are built from. */
export interface GroupParts extends StorageParts {
  /** Undefined with token logins. */
  readonly userSecrets: UserSecrets | undefined;
}

interface ProxiedGroup extends Construct {
  readonly name: string;
  readonly cluster: DatabaseCluster;
  readonly ownersSecret: ISecret;
}

const MYSQL_PORT = 3306;
/** Dimensions of a proxy's metrics (sets 1 and 4 of "Monitoring RDS Proxy metrics with Amazon CloudWatch"). */
const TARGET_GROUP = 'default';
const TARGET_ROLES = { writer: 'READ_WRITE', readers: 'READ_ONLY' } as const;
/** As long as a function waits for a connection, so that circuit breakers notice. */
const BORROW_TIMEOUT = Duration.seconds(2);

/** A group's RDS Proxy: it holds the connections for function instances and follows a failover without a DNS lookup. */
export class GroupProxy extends Construct {
  readonly name: string;
  readonly writer: string;
  readonly reader: string;
  private readonly proxy: DatabaseProxy;

  constructor(scope: ProxiedGroup, id: string, storage: GroupParts) {
    super(scope, id);
    const { name: group, cluster, ownersSecret } = scope;
    const { environment, network, userSecrets, encryptionKey } = storage;
    const byToken = environment.databaseAuth === 'iam';
    const { vpc, subnets } = network;
    const securityGroup = closedSecurityGroup(this, 'security', vpc, `Proxy of ${group}`);
    // By default, the constructs' ids, which are the same in all groups.
    const name = `schemaless-${environment.name}-${group}`;
    this.name = name;
    const log = keptLog(this, 'proxy', environment, `/aws/rds/proxy/${name}`);
    this.proxy = new DatabaseProxy(this, 'proxy', {
      dbProxyName: name,
      proxyTarget: ProxyTarget.fromCluster(cluster),
      secrets: [ownersSecret, ...Object.values(userSecrets ?? {})],
      vpc,
      vpcSubnets: subnets,
      securityGroups: [securityGroup],
      iamAuth: byToken,
      // Users without a secret log in with a token of the proxy's role.
      ...(byToken && { defaultAuthScheme: DefaultAuthScheme.IAM_AUTH }),
      requireTLS: true,
      borrowTimeout: BORROW_TIMEOUT,
      maxConnectionsPercent: PROXY_PERCENT,
    });
    this.proxy.node.addDependency(log);
    const role = this.proxy.node.findChild('IAMRole');
    if (!(role instanceof Role)) throw new Error(`${group}: wanted a role IAMRole of its proxy, got ${String(role)}`);
    grantSecretKey(role, encryptionKey, 'read');
    if (byToken) this.grantConnections(role);
    const readers = new DatabaseProxyEndpoint(this, 'readers', {
      dbProxy: this.proxy,
      dbProxyEndpointName: `${name}-readers`,
      vpc,
      vpcSubnets: subnets,
      securityGroups: [securityGroup],
      targetRole: ProxyEndpointTargetRole.READ_ONLY,
    });
    securityGroup.connections.allowFrom(network.clients, Port.tcp(MYSQL_PORT), 'Functions of the store');
    acknowledge(this, 'IAM5[Action::secretsmanager:*]', 'The proxy reads the secrets of its users, and no other');
    this.writer = this.proxy.endpoint;
    this.reader = readers.endpoint;
  }

  metric(metricName: string, options: MetricOptions): Metric {
    return this.metricOf(metricName, { ProxyName: this.name }, options);
  }

  metricTo(role: 'writer' | 'readers', metricName: string, options: MetricOptions): Metric {
    const dimensions = { ProxyName: this.name, TargetGroup: TARGET_GROUP, TargetRole: TARGET_ROLES[role] };
    return this.metricOf(metricName, dimensions, options);
  }

  /** A restored cluster has another resource id; the proxy reaches only the cluster registered with it. */
  private grantConnections(role: Role): void {
    const resources = MADE_USERS.map((user) =>
      Stack.of(this).formatArn({
        service: 'rds-db',
        resource: 'dbuser',
        resourceName: `*/${userName(user)}`,
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      }),
    );
    role.addToPrincipalPolicy(new PolicyStatement({ actions: ['rds-db:connect'], resources }));
    for (const arn of resources)
      acknowledgeArn(role, arn, 'A restore replaces the cluster; network and registration admit one');
  }

  private metricOf(metricName: string, dimensionsMap: Record<string, string>, options: MetricOptions): Metric {
    return new Metric({ namespace: 'AWS/RDS', metricName, dimensionsMap, ...options });
  }

  grantLogin(grantee: IGrantable, user: DatabaseUser): void {
    this.proxy.grantConnect(grantee, userName(user));
  }
}
