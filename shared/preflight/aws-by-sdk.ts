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
import type { AwsAnswers, Orderable, QuotaId, Zone } from './aws-answers.ts';
import { Unanswered } from './unanswered.ts';

interface Asked {
  readonly region: string;
  /** An AWS profile. @default the SDK's credentials */
  readonly profile?: string | undefined;
}

/** Some services answer few requests a second. */
const ATTEMPTS = 8;

/** Asks AWS through its SDK; changes nothing. */
export class AwsBySdk implements AwsAnswers {
  readonly region: string;
  private readonly asked = new Map<string, Promise<unknown>>();
  private readonly clients: Clients;

  constructor({ region, profile }: Asked) {
    this.region = region;
    this.clients = clientsOf({ region, maxAttempts: ATTEMPTS, ...(profile !== undefined && { profile }) });
  }

  async account(): Promise<string> {
    return this.ask('sts:GetCallerIdentity', '', async () => {
      const { Account } = await this.clients.sts.send(new GetCallerIdentityCommand());
      return said(Account, 'Account');
    });
  }

  async parameter(name: string): Promise<string | undefined> {
    return this.ask('ssm:GetParameter', name, async () => {
      const got = unless('ParameterNotFound', this.clients.ssm.send(new GetParameterCommand({ Name: name })));
      return (await got)?.Parameter?.Value;
    });
  }

  async concurrency(): Promise<{ readonly limit: number; readonly unreserved: number }> {
    return this.ask('lambda:GetAccountSettings', '', async () => {
      const { AccountLimit } = await this.clients.lambda.send(new GetAccountSettingsCommand());
      return {
        limit: said(AccountLimit?.ConcurrentExecutions, 'ConcurrentExecutions'),
        unreserved: said(AccountLimit?.UnreservedConcurrentExecutions, 'UnreservedConcurrentExecutions'),
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
      return said(Quota?.Value, 'Quota');
    });
  }

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
    return this.ask('rds:DescribeDBClusters', '', async () =>
      all(paginateDescribeDBClusters({ client: this.clients.rds }, {}), ({ DBClusters = [] }) =>
        DBClusters.flatMap(({ DBClusterIdentifier: name }) => name ?? []),
      ),
    );
  }

  async proxies(): Promise<readonly string[]> {
    return this.ask('rds:DescribeDBProxies', '', async () =>
      all(paginateDescribeDBProxies({ client: this.clients.rds }, {}), ({ DBProxies = [] }) =>
        DBProxies.flatMap(({ DBProxyName: name }) => name ?? []),
      ),
    );
  }

  async vpcs(): Promise<number> {
    return this.ask('ec2:DescribeVpcs', '', async () => {
      const vpcs = await all(paginateDescribeVpcs({ client: this.clients.ec2 }, {}), ({ Vpcs = [] }) => Vpcs);
      return vpcs.length;
    });
  }

  async gatewayEndpoints(): Promise<number> {
    const gateways = [{ Name: 'vpc-endpoint-type', Values: ['Gateway'] }];
    return this.ask('ec2:DescribeVpcEndpoints', '', async () => {
      const pages = paginateDescribeVpcEndpoints({ client: this.clients.ec2 }, { Filters: gateways });
      return (await all(pages, ({ VpcEndpoints = [] }) => VpcEndpoints)).length;
    });
  }

  async zones(): Promise<readonly Zone[]> {
    const open = [
      { Name: 'state', Values: ['available'] },
      { Name: 'zone-type', Values: ['availability-zone'] },
    ];
    return this.ask('ec2:DescribeAvailabilityZones', '', async () => {
      const command = new DescribeAvailabilityZonesCommand({ Filters: open });
      const { AvailabilityZones = [] } = await this.clients.ec2.send(command);
      return AvailabilityZones.map(({ ZoneName, ZoneId }) => ({
        name: said(ZoneName, 'ZoneName'),
        id: said(ZoneId, 'ZoneId'),
      }));
    });
  }

  async zonesOfDefaultSubnets(): Promise<readonly string[]> {
    const defaults = [{ Name: 'default-for-az', Values: ['true'] }];
    return this.ask('ec2:DescribeSubnets', '', async () =>
      all(paginateDescribeSubnets({ client: this.clients.ec2 }, { Filters: defaults }), ({ Subnets = [] }) =>
        Subnets.flatMap(({ AvailabilityZone: name }) => name ?? []),
      ),
    );
  }

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
      const options = await unless(
        'InvalidParameterCombination',
        all(pages, ({ OrderableDBInstanceOptions = [] }) => OrderableDBInstanceOptions),
      );
      return (options ?? []).map(({ AvailabilityZones = [], SupportsHttpEndpoint = false }) => ({
        zones: AvailabilityZones.flatMap(({ Name: name }) => name ?? []),
        dataApi: SupportsHttpEndpoint,
      }));
    });
  }

  async stackStatus(name: string): Promise<string | undefined> {
    return this.ask('cloudformation:DescribeStacks', name, async () => {
      const command = new DescribeStacksCommand({ StackName: name });
      // A missing stack has no error name of its own.
      const answer = await unless('ValidationError', this.clients.cloudformation.send(command), /does not exist/u);
      return answer?.Stacks?.[0]?.StackStatus;
    });
  }

  async stackResources(name: string): Promise<readonly string[]> {
    return this.ask('cloudformation:ListStackResources', name, async () =>
      all(
        paginateListStackResources({ client: this.clients.cloudformation }, { StackName: name }),
        ({ StackResourceSummaries = [] }) => StackResourceSummaries.flatMap(({ LogicalResourceId: id }) => id ?? []),
      ),
    );
  }

  async logGroups(prefix: string): Promise<readonly string[]> {
    return this.ask('logs:DescribeLogGroups', prefix, async () =>
      all(
        paginateDescribeLogGroups({ client: this.clients.logs }, { logGroupNamePrefix: prefix }),
        ({ logGroups = [] }) => logGroups.flatMap(({ logGroupName: name }) => name ?? []),
      ),
    );
  }

  async offersType(type: string): Promise<boolean> {
    return this.ask('cloudformation:DescribeType', type, async () => {
      const command = new DescribeTypeCommand({ Type: 'RESOURCE', TypeName: type });
      return (await unless('TypeNotFoundException', this.clients.cloudformation.send(command))) !== undefined;
    });
  }

  /** Caches by action and subject, even empty answers. */
  private async ask<T>(action: string, about: string, question: () => Promise<T>): Promise<T> {
    const key = `${action} ${about}`;
    const asked = (this.asked.get(key) as Promise<T> | undefined) ?? this.first(action, question);
    this.asked.set(key, asked);
    return asked;
  }

  private async first<T>(action: string, question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (error) {
      throw new Unanswered(action, error);
    }
  }
}

interface Clients {
  readonly sts: STSClient;
  readonly ssm: SSMClient;
  readonly lambda: LambdaClient;
  readonly quotas: ServiceQuotasClient;
  readonly rds: RDSClient;
  readonly ec2: EC2Client;
  readonly cloudformation: CloudFormationClient;
  readonly logs: CloudWatchLogsClient;
}

function clientsOf(config: { region: string; maxAttempts: number; profile?: string }): Clients {
  return {
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

async function all<Page, Item>(pages: AsyncIterable<Page>, itemsOf: (page: Page) => readonly Item[]): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of pages) items.push(...itemsOf(page));
  return items;
}

function said<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`wanted ${name} in the answer, got none`);
  return value;
}
