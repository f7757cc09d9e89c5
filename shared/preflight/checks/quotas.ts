import type { AwsAnswers, QuotaId } from '../aws-by-sdk.ts';
import type { ChecksOf, Judgement } from '../check.ts';
import { resourcesOf } from '../needs.ts';
import { Unanswered } from '../unanswered.ts';

interface Quota extends QuotaId {
  readonly name: string;
  readonly type: string;
  /** Of endpoints, those of this kind alone. */
  readonly kind?: 'Interface' | 'Gateway';
  readonly amounts: (aws: AwsAnswers, id: QuotaId) => Promise<{ readonly used: number; readonly most: number }>;
}

/** RDS itself reports the use of these, and enforces them. */
function countedByRds(name: string, code: string, resource: string): Quota {
  return {
    service: 'rds',
    name,
    code,
    type: `AWS::RDS::${resource}`,
    async amounts(aws) {
      const quota = (await aws.rdsQuotas()).get(`${resource}s`);
      if (!quota) throw new Unanswered('rds:DescribeAccountAttributes', new Error(`said nothing of ${resource}s`));
      return quota;
    },
  };
}

const usedBy =
  (used: (aws: AwsAnswers) => Promise<number>): Quota['amounts'] =>
  async (aws, id) => ({ used: await used(aws), most: await aws.quota(id) });
const ofNewVpc = usedBy(async () => 0);
const QUOTAS: readonly Quota[] = [
  countedByRds('DB clusters', 'L-952B80B8', 'DBCluster'),
  countedByRds('DB instances', 'L-7B6409FD', 'DBInstance'),
  countedByRds('DB cluster parameter groups', 'L-E4C808A8', 'DBClusterParameterGroup'),
  countedByRds('Parameter groups', 'L-DE55804A', 'DBParameterGroup'),
  countedByRds('DB subnet groups', 'L-48C6BF61', 'DBSubnetGroup'),
  {
    service: 'rds',
    name: 'Proxies',
    code: 'L-D94C7EA3',
    type: 'AWS::RDS::DBProxy',
    amounts: usedBy(async (aws) => (await aws.proxies()).length),
  },
  {
    service: 'vpc',
    name: 'VPCs per Region',
    code: 'L-F678F1CE',
    type: 'AWS::EC2::VPC',
    amounts: usedBy((aws) => aws.vpcs()),
  },
  { service: 'vpc', name: 'Subnets per VPC', code: 'L-407747CB', type: 'AWS::EC2::Subnet', amounts: ofNewVpc },
  {
    service: 'vpc',
    name: 'Interface VPC endpoints per VPC',
    code: 'L-29B6F2EB',
    type: 'AWS::EC2::VPCEndpoint',
    kind: 'Interface',
    amounts: ofNewVpc,
  },
  {
    service: 'vpc',
    name: 'Gateway VPC endpoints per Region',
    code: 'L-1B52E74A',
    type: 'AWS::EC2::VPCEndpoint',
    kind: 'Gateway',
    amounts: usedBy((aws) => aws.gatewayEndpoints()),
  },
];

/** Checks whether what is added fits, and says what to request. */
export const quotaChecks: ChecksOf = (needs) =>
  QUOTAS.flatMap(({ service, name, code, type, kind, amounts }) => {
    const all = resourcesOf(needs, type);
    const added = all.filter(({ properties }) => !kind || properties['VpcEndpointType'] === kind).length;
    if (added === 0) return [];
    const id = { service, code };
    const judge = async (aws: AwsAnswers): Promise<Judgement> => {
      const { used, most } = await amounts(aws, id);
      const found = `${used} of ${most} used`;
      if (used + added <= most) return { verdict: 'ok', found };
      return { verdict: 'FAIL', found, ...askFor(aws.region, id, name, used + added) };
    };
    return [{ name: `${service.toUpperCase()}: ${name}`, wanted: `${added} more`, judge }];
  });

const CONSOLES: readonly (readonly [RegExp, string])[] = [
  [/^cn-/u, 'console.amazonaws.cn'],
  [/^us-gov-/u, 'console.amazonaws-us-gov.com'],
];

/** Returns the quota to request of AWS, with the page of its console for that. */
export function askFor(
  region: string,
  { service, code }: QuotaId,
  name: string,
  least: number,
): Required<Pick<Judgement, 'todo' | 'link'>> {
  const special = CONSOLES.find(([regions]) => regions.test(region));
  const host = special ? special[1] : `${region}.console.aws.amazon.com`;
  return {
    todo: `Ask AWS for ${least} or more of "${name}"`,
    link: `https://${host}/servicequotas/home/services/${service}/quotas/${code}?region=${region}`,
  };
}
