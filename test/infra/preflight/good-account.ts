import type { AwsAnswers } from '../../../shared/preflight/aws-by-sdk.ts';

const ZONES = ['a', 'b', 'c'].map((letter, position) => ({ name: `eu-west-1${letter}`, id: `euw1-az${position + 1}` }));

export function goodAccount(otherwise: Partial<AwsAnswers> = {}): AwsAnswers {
  const rdsQuotas = ['DBClusters', 'DBInstances', 'DBClusterParameterGroups', 'DBParameterGroups', 'DBSubnetGroups'];
  return {
    region: 'eu-west-1',
    account: async () => '123456789012',
    parameter: async () => '28',
    concurrency: async () => ({ limit: 1000, unreserved: 1000 }),
    quota: async () => 20,
    rdsQuotas: async () => new Map(rdsQuotas.map((name) => [name, { used: 1, most: 40 }])),
    backedUpTypes: async () => new Set(['Aurora', 'DynamoDB']),
    clusters: async () => ['somebody-elses'],
    proxies: async () => ['somebody-elses'],
    vpcs: async () => 1,
    gatewayEndpoints: async () => 0,
    zones: async () => ZONES,
    zonesOfDefaultSubnets: async () => ZONES.map(({ name }) => name),
    engine: async () => ({ acu: [0, 256] }),
    orderable: async () => [{ zones: ZONES.map(({ name }) => name), dataApi: true }],
    stackStatus: async () => undefined,
    stackResources: async () => [],
    logGroups: async () => [],
    offersType: async () => true,
    ...otherwise,
  };
}
