import { BackupClient, DescribeRegionSettingsCommand } from '@aws-sdk/client-backup';
import {
  CloudFormationClient,
  DescribeStacksCommand,
  DescribeTypeCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient, paginateDescribeLogGroups } from '@aws-sdk/client-cloudwatch-logs';
import {
  DescribeAvailabilityZonesCommand,
  EC2Client,
  paginateDescribeSubnets,
  paginateDescribeVpcEndpoints,
  paginateDescribeVpcs,
} from '@aws-sdk/client-ec2';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  DescribeAccountAttributesCommand,
  DescribeDBEngineVersionsCommand,
  paginateDescribeDBClusters,
  paginateDescribeDBProxies,
  paginateDescribeOrderableDBInstanceOptions,
  RDSClient,
} from '@aws-sdk/client-rds';
import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { Unanswered } from './unanswered.ts';

export interface QuotaId {
  readonly service: string;
  readonly code: string;
}

export interface Zone {
  /** `us-east-1a`: differs between accounts. */
  readonly name: string;
  /** `use1-az3`: the same place in all accounts. */
  readonly id: string;
}

/** An available instance class of an engine's version. */
interface Orderable {
  readonly zones: readonly string[];
  readonly dataApi: boolean;
}

/** Some services answer few requests a second. */
const ATTEMPTS = 8;

/** Answers of an account, each asked for once. All throw `Unanswered` with the missing IAM action or obstacle. */
export type AwsAnswers = Pick<AwsBySdk, keyof AwsBySdk>;

/** Asks AWS through its SDK; changes nothing. */
export class AwsBySdk {
  readonly region: string;
  private readonly asked = new Map<string, Promise<unknown>>();
  private readonly clients: ReturnType<typeof clientsOf>;

  /** Without a profile it takes the SDK's credentials. */
  constructor({ region, profile }: { readonly region: string; readonly profile?: string | undefined }) {
    this.region = region;
    this.clients = clientsOf({ region, maxAttempts: ATTEMPTS, ...(profile !== undefined && { profile }) });
  }

  async account(): Promise<string> {
    return this.ask('sts:GetCallerIdentity', '', async () => {
      const { Account } = await this.clients.sts.send(new GetCallerIdentityCommand());
      return required(Account, 'Account');
    });
  }

  /** Undefined for a missing parameter. */
  async parameter(name: string): Promise<string | undefined> {
    return this.ask('ssm:GetParameter', name, async () => {
      const got = unless('ParameterNotFound', this.clients.ssm.send(new GetParameterCommand({ Name: name })));
      return (await got)?.Parameter?.Value;
    });
  }

  /** Concurrent Lambda instances: the account's, and unreserved ones. */
  async concurrency(): Promise<{ readonly limit: number; readonly unreserved: number }> {
    return this.ask('lambda:GetAccountSettings', '', async () => {
      const { AccountLimit } = await this.clients.lambda.send(new GetAccountSettingsCommand());
      return {
        limit: required(AccountLimit?.ConcurrentExecutions, 'ConcurrentExecutions'),
        unreserved: required(AccountLimit?.UnreservedConcurrentExecutions, 'UnreservedConcurrentExecutions'),
      };
    });
  }

  async quota({ service, code }: QuotaId): Promise<number> {
    const id = { ServiceCode: service, QuotaCode: code };
    const { quotas } = this.clients;
    const own = await this.ask('servicequotas:GetServiceQuota', `${service} ${code}`, async () =>
      unless('NoSuchResourceException', quotas.send(new GetServiceQuotaCommand(id))),
    );
    if (own?.Quota?.Value !== undefined) return own.Quota.Value;
    // Unchanged quotas may be missing from the account's own.
    return this.ask('servicequotas:GetAWSDefaultServiceQuota', `${service} ${code}`, async () => {
      const { Quota } = await quotas.send(new GetAWSDefaultServiceQuotaCommand(id));
      return required(Quota?.Value, 'Quota');
    });
  }

  /** By RDS's own names: `DBClusters`. */
  async rdsQuotas(): Promise<ReadonlyMap<string, { readonly used: number; readonly most: number }>> {
    return this.ask('rds:DescribeAccountAttributes', '', async () => {
      const { AccountQuotas = [] } = await this.clients.rds.send(new DescribeAccountAttributesCommand());
      return new Map(
        AccountQuotas.flatMap(({ AccountQuotaName: name, Used: used, Max: most }) =>
          name === undefined || used === undefined || most === undefined ? [] : [[name, { used, most }] as const],
        ),
      );
    });
  }

  async clusters(): Promise<readonly string[]> {
    const pages = paginateDescribeDBClusters({ client: this.clients.rds }, {});
    return this.list('rds:DescribeDBClusters', '', pages, ({ DBClusters = [] }) =>
      DBClusters.map((cluster) => cluster.DBClusterIdentifier),
    );
  }

  async proxies(): Promise<readonly string[]> {
    const pages = paginateDescribeDBProxies({ client: this.clients.rds }, {});
    return this.list('rds:DescribeDBProxies', '', pages, ({ DBProxies = [] }) =>
      DBProxies.map((proxy) => proxy.DBProxyName),
    );
  }

  /** Types of resources that AWS Backup copies in the region. */
  async backedUpTypes(): Promise<ReadonlySet<string>> {
    return this.ask('backup:DescribeRegionSettings', '', async () => {
      const settings = await this.clients.backup.send(new DescribeRegionSettingsCommand());
      const types = Object.entries(settings.ResourceTypeOptInPreference ?? {});
      return new Set(types.filter(([, isEnabled]) => isEnabled).map(([type]) => type));
    });
  }

  async vpcs(): Promise<number> {
    const pages = paginateDescribeVpcs({ client: this.clients.ec2 }, {});
    return (await this.list('ec2:DescribeVpcs', '', pages, ({ Vpcs = [] }) => Vpcs)).length;
  }

  async gatewayEndpoints(): Promise<number> {
    const Filters = [{ Name: 'vpc-endpoint-type', Values: ['Gateway'] }];
    const pages = paginateDescribeVpcEndpoints({ client: this.clients.ec2 }, { Filters });
    return (await this.list('ec2:DescribeVpcEndpoints', '', pages, ({ VpcEndpoints = [] }) => VpcEndpoints)).length;
  }

  /** Open to the account, without local zones. */
  async zones(): Promise<readonly Zone[]> {
    const open = [
      { Name: 'state', Values: ['available'] },
      { Name: 'zone-type', Values: ['availability-zone'] },
    ];
    return this.ask('ec2:DescribeAvailabilityZones', '', async () => {
      const command = new DescribeAvailabilityZonesCommand({ Filters: open });
      const { AvailabilityZones = [] } = await this.clients.ec2.send(command);
      return AvailabilityZones.map(({ ZoneName, ZoneId }) => ({
        name: required(ZoneName, 'ZoneName'),
        id: required(ZoneId, 'ZoneId'),
      }));
    });
  }

  async zonesOfDefaultSubnets(): Promise<readonly string[]> {
    const Filters = [{ Name: 'default-for-az', Values: ['true'] }];
    const pages = paginateDescribeSubnets({ client: this.clients.ec2 }, { Filters });
    return this.list('ec2:DescribeSubnets', '', pages, ({ Subnets = [] }) =>
      Subnets.map((subnet) => subnet.AvailabilityZone),
    );
  }

  /** The version's ACU range; undefined if the region does not offer it. */
  async engine(engine: string, version: string): Promise<{ readonly acu?: readonly [number, number] } | undefined> {
    return this.ask('rds:DescribeDBEngineVersions', `${engine} ${version}`, async () => {
      const command = new DescribeDBEngineVersionsCommand({ Engine: engine, EngineVersion: version });
      const answer = await unless('InvalidParameterCombination', this.clients.rds.send(command));
      const offered = answer?.DBEngineVersions?.[0];
      if (!offered) return undefined;
      const { MinCapacity: least, MaxCapacity: most } = offered.ServerlessV2FeaturesSupport ?? {};
      return least === undefined || most === undefined ? {} : { acu: [least, most] as const };
    });
  }

  async orderable(engine: string, version: string, instanceClass: string): Promise<readonly Orderable[]> {
    const wanted = { Engine: engine, EngineVersion: version, DBInstanceClass: instanceClass, Vpc: true };
    return this.ask('rds:DescribeOrderableDBInstanceOptions', Object.values(wanted).join(' '), async () => {
      const pages = paginateDescribeOrderableDBInstanceOptions({ client: this.clients.rds }, wanted);
      const asked = all(pages, ({ OrderableDBInstanceOptions = [] }) => OrderableDBInstanceOptions);
      return ((await unless('InvalidParameterCombination', asked)) ?? []).map(
        ({ AvailabilityZones = [], SupportsHttpEndpoint = false }) => ({
          zones: AvailabilityZones.flatMap(({ Name: name }) => name ?? []),
          dataApi: SupportsHttpEndpoint,
        }),
      );
    });
  }

  /** By name or ARN; undefined for a missing stack. */
  async stackStatus(name: string): Promise<string | undefined> {
    return this.ask('cloudformation:DescribeStacks', name, async () => {
      const command = new DescribeStacksCommand({ StackName: name });
      // A missing stack has no error name of its own.
      const answer = await unless('ValidationError', this.clients.cloudformation.send(command), /does not exist/u);
      return answer?.Stacks?.[0]?.StackStatus;
    });
  }

  /** Logical ids, including changes under way. By name or ARN. */
  async stackResources(name: string): Promise<readonly string[]> {
    const pages = paginateListStackResources({ client: this.clients.cloudformation }, { StackName: name });
    return this.list('cloudformation:ListStackResources', name, pages, ({ StackResourceSummaries = [] }) =>
      StackResourceSummaries.map((resource) => resource.LogicalResourceId),
    );
  }

  async logGroups(prefix: string): Promise<readonly string[]> {
    const pages = paginateDescribeLogGroups({ client: this.clients.logs }, { logGroupNamePrefix: prefix });
    return this.list('logs:DescribeLogGroups', prefix, pages, ({ logGroups = [] }) =>
      logGroups.map((group) => group.logGroupName),
    );
  }

  /** True if CloudFormation makes the type in the region. */
  async offersType(type: string): Promise<boolean> {
    return this.ask('cloudformation:DescribeType', type, async () => {
      const command = new DescribeTypeCommand({ Type: 'RESOURCE', TypeName: type });
      return (await unless('TypeNotFoundException', this.clients.cloudformation.send(command))) !== undefined;
    });
  }

  /** Without items that AWS does not name. */
  private async list<Page, Item>(
    action: string,
    about: string,
    pages: AsyncIterable<Page>,
    itemsOf: (page: Page) => readonly (Item | undefined)[],
  ): Promise<Item[]> {
    return this.ask(action, about, () => all(pages, itemsOf));
  }

  /** Caches by action and subject, even empty answers. */
  private async ask<T>(action: string, about: string, question: () => Promise<T>): Promise<T> {
    const key = `${action} ${about}`;
    const asked =
      (this.asked.get(key) as Promise<T> | undefined) ??
      question().catch((error: unknown) => {
        throw new Unanswered(action, error);
      });
    this.asked.set(key, asked);
    return asked;
  }
}

function clientsOf(config: { region: string; maxAttempts: number; profile?: string }) {
  return {
    backup: new BackupClient(config),
    sts: new STSClient(config),
    ssm: new SSMClient(config),
    lambda: new LambdaClient(config),
    quotas: new ServiceQuotasClient(config),
    rds: new RDSClient(config),
    ec2: new EC2Client(config),
    cloudformation: new CloudFormationClient(config),
    logs: new CloudWatchLogsClient(config),
  };
}

/** Returns undefined for an error that means "does not exist". */
async function unless<T>(name: string, answer: Promise<T>, message = /(?:)/u): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && error.name === name && message.test(error.message)) return undefined;
    throw error;
  }
}

async function all<Page, Item>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly (Item | undefined)[],
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of pages) items.push(...itemsOf(page).filter((item) => item !== undefined));
  return items;
}

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`wanted ${name} in the answer, got none`);
  return value;
}
