import type { AwsAnswers } from '../aws-answers.ts';
import type { ChecksOf } from '../check.ts';
import { judgeQuota } from '../judge-quota.ts';
import { resourcesOf, type NeededResource } from '../needs.ts';

interface VpcQuota {
  readonly name: string;
  readonly code: string;
  readonly type: string;
  readonly isCounted?: (resource: NeededResource) => boolean;
  readonly used: (aws: AwsAnswers) => Promise<number>;
}

const ofNewVpc = async (): Promise<number> => 0;

const QUOTAS: readonly VpcQuota[] = [
  { name: 'VPCs per Region', code: 'L-F678F1CE', type: 'AWS::EC2::VPC', used: async (aws) => aws.vpcs() },
  { name: 'Subnets per VPC', code: 'L-407747CB', type: 'AWS::EC2::Subnet', used: ofNewVpc },
  {
    name: 'Interface VPC endpoints per VPC',
    code: 'L-29B6F2EB',
    type: 'AWS::EC2::VPCEndpoint',
    isCounted: ({ properties }) => properties['VpcEndpointType'] === 'Interface',
    used: ofNewVpc,
  },
  {
    name: 'Gateway VPC endpoints per Region',
    code: 'L-1B52E74A',
    type: 'AWS::EC2::VPCEndpoint',
    isCounted: ({ properties }) => properties['VpcEndpointType'] === 'Gateway',
    used: async (aws) => aws.gatewayEndpoints(),
  },
];

export const vpcQuotaChecks: ChecksOf = (needs) =>
  QUOTAS.flatMap(({ name, code, type, isCounted = () => true, used }) => {
    const added = resourcesOf(needs, type).filter(isCounted).length;
    if (added === 0) return [];
    const id = { service: 'vpc', code };
    return [
      {
        name: `VPC: ${name}`,
        wanted: `${added} more`,
        judge: async (aws: AwsAnswers) =>
          judgeQuota({ region: aws.region, id, name, added, used: await used(aws), most: await aws.quota(id) }),
      },
    ];
  });
