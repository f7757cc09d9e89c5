import type { Check, ChecksOf } from '../check.ts';
import { judgeQuota } from '../judge-quota.ts';
import { resourcesOf } from '../needs.ts';
import { Unanswered } from '../unanswered.ts';

/** Quotas whose use RDS itself reports and enforces. */
const COUNTED = [
  { name: 'DB clusters', type: 'AWS::RDS::DBCluster', counter: 'DBClusters', code: 'L-952B80B8' },
  { name: 'DB instances', type: 'AWS::RDS::DBInstance', counter: 'DBInstances', code: 'L-7B6409FD' },
  {
    name: 'DB cluster parameter groups',
    type: 'AWS::RDS::DBClusterParameterGroup',
    counter: 'DBClusterParameterGroups',
    code: 'L-E4C808A8',
  },
  { name: 'Parameter groups', type: 'AWS::RDS::DBParameterGroup', counter: 'DBParameterGroups', code: 'L-DE55804A' },
  { name: 'DB subnet groups', type: 'AWS::RDS::DBSubnetGroup', counter: 'DBSubnetGroups', code: 'L-48C6BF61' },
] as const;
const PROXIES = { service: 'rds', code: 'L-D94C7EA3' };

export const rdsQuotaChecks: ChecksOf = (needs) => {
  const checks = COUNTED.map(({ name, type, counter, code }): Check & { readonly added: number } => {
    const added = resourcesOf(needs, type).length;
    return {
      added,
      name: `RDS: ${name}`,
      wanted: `${added} more`,
      async judge(aws) {
        const quota = (await aws.rdsQuotas()).get(counter);
        if (!quota) throw new Unanswered('rds:DescribeAccountAttributes', new Error(`said nothing of ${counter}`));
        return judgeQuota({ region: aws.region, id: { service: 'rds', code }, name, added, ...quota });
      },
    };
  });
  return [...checks.filter(({ added }) => added > 0), ...proxyChecks(needs)];
};

const proxyChecks: ChecksOf = (needs) => {
  const added = resourcesOf(needs, 'AWS::RDS::DBProxy').length;
  if (added === 0) return [];
  return [
    {
      name: 'RDS: Proxies',
      wanted: `${added} more`,
      async judge(aws) {
        const [most, { length: used }] = [await aws.quota(PROXIES), await aws.proxies()];
        return judgeQuota({ region: aws.region, id: PROXIES, name: 'Proxies', added, used, most });
      },
    },
  ];
};
