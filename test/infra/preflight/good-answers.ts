import { ec2Result, refusal, result, type FakeAnswer, type FakeAnswers } from './fake-aws.ts';

/** As they are called in the names of environment variables that say where they are. */
export const SERVICES = [
  'BACKUP',
  'STS',
  'SSM',
  'LAMBDA',
  'SERVICE_QUOTAS',
  'RDS',
  'EC2',
  'CLOUDFORMATION',
  'CLOUDWATCH_LOGS',
];

export const member = (inner: string): string => `<member>${inner}</member>`;
const zone = (letter: string, at: number): string =>
  `<item><zoneName>eu-west-1${letter}</zoneName><zoneId>euw1-az${at}</zoneId><zoneState>available</zoneState></item>`;
const subnet = (letter: string): string =>
  `<item><subnetId>subnet-${letter}</subnetId><availabilityZone>eu-west-1${letter}</availabilityZone></item>`;
const quota = (name: string): string =>
  `<AccountQuota><AccountQuotaName>${name}</AccountQuotaName><Used>1</Used><Max>40</Max></AccountQuota>`;
const orderable = `<OrderableDBInstanceOption><AvailabilityZones><AvailabilityZone><Name>eu-west-1a</Name></AvailabilityZone><AvailabilityZone><Name>eu-west-1b</Name></AvailabilityZone></AvailabilityZones><SupportsHttpEndpoint>true</SupportsHttpEndpoint></OrderableDBInstanceOption>`;
/** `more`: a marker of a further page. */
export const clusters = (name: string, more = ''): FakeAnswer =>
  result(
    'DescribeDBClusters',
    `<DBClusters><DBCluster><DBClusterIdentifier>${name}</DBClusterIdentifier><Engine>aurora-mysql</Engine></DBCluster></DBClusters>${more}`,
  );
const identity = `<Arn>arn:aws:iam::123456789012:user/ann</Arn><UserId>AIDA</UserId><Account>123456789012</Account>`;
export const concurrent = (limit: number): FakeAnswer => ({
  body: { AccountLimit: { ConcurrentExecutions: limit, UnreservedConcurrentExecutions: limit }, AccountUsage: {} },
});
export const version = (value: string): FakeAnswer => ({
  body: { Parameter: { Name: '/cdk-bootstrap/hnb659fds/version', Type: 'String', Value: value, Version: 1 } },
});

/** Of an account in which nothing stands in the way, in the shapes of AWS. */
export const GOOD: FakeAnswers = {
  GetCallerIdentity: [result('GetCallerIdentity', identity)],
  GetParameter: [version('28')],
  GetAccountSettings: [concurrent(1000)],
  // A quota with its default value.
  GetServiceQuota: [{ status: 400, body: { __type: 'NoSuchResourceException', Message: 'none applied' } }],
  GetAWSDefaultServiceQuota: [{ body: { Quota: { QuotaCode: 'L-1', Value: 20 } } }],
  DescribeAccountAttributes: [
    result(
      'DescribeAccountAttributes',
      `<AccountQuotas>${['DBClusters', 'DBInstances', 'DBClusterParameterGroups', 'DBParameterGroups', 'DBSubnetGroups'].map(quota).join('')}</AccountQuotas>`,
    ),
  ],
  DescribeDBClusters: [clusters('one', '<Marker>more</Marker>'), clusters('other')],
  DescribeDBProxies: [
    result('DescribeDBProxies', `<DBProxies>${member('<DBProxyName>other</DBProxyName>')}</DBProxies>`),
  ],
  DescribeRegionSettings: [{ body: { ResourceTypeOptInPreference: { Aurora: true, DynamoDB: true, EFS: false } } }],
  DescribeVpcs: [ec2Result('DescribeVpcs', '<vpcSet><item><vpcId>vpc-1</vpcId></item></vpcSet>')],
  DescribeVpcEndpoints: [ec2Result('DescribeVpcEndpoints', '<vpcEndpointSet/>')],
  DescribeAvailabilityZones: [
    ec2Result(
      'DescribeAvailabilityZones',
      `<availabilityZoneInfo>${zone('a', 1)}${zone('b', 2)}</availabilityZoneInfo>`,
    ),
  ],
  DescribeSubnets: [ec2Result('DescribeSubnets', `<subnetSet>${subnet('a')}${subnet('b')}</subnetSet>`)],
  DescribeDBEngineVersions: [
    result(
      'DescribeDBEngineVersions',
      '<DBEngineVersions><DBEngineVersion><Engine>aurora-mysql</Engine><ServerlessV2FeaturesSupport><MinCapacity>0</MinCapacity><MaxCapacity>256</MaxCapacity></ServerlessV2FeaturesSupport></DBEngineVersion></DBEngineVersions>',
    ),
  ],
  DescribeOrderableDBInstanceOptions: [
    result(
      'DescribeOrderableDBInstanceOptions',
      `<OrderableDBInstanceOptions>${orderable}</OrderableDBInstanceOptions>`,
    ),
  ],
  DescribeStacks: [refusal('ValidationError', 'Stack with id Schemaless-prod-storage does not exist')],
  ListStackResources: [result('ListStackResources', '<StackResourceSummaries/>')],
  DescribeLogGroups: [{ body: { logGroups: [] } }],
  DescribeType: [result('DescribeType', '<TypeName>AWS::RDS::DBCluster</TypeName>')],
};
