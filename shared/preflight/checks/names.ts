import type { AwsAnswers } from '../aws-by-sdk.ts';
import type { Check, ChecksOf } from '../check.ts';
import { resourcesOf, textsOf, type Needs } from '../needs.ts';
import { isStanding } from './first-deployment.ts';

interface NameKind {
  readonly many: string;
  readonly type: string;
  readonly property: string;
  /** All taken names, or those with the same start. */
  readonly taken: (aws: AwsAnswers, names: readonly string[]) => Promise<readonly string[]>;
}

const KINDS: readonly NameKind[] = [
  {
    many: 'clusters',
    type: 'AWS::RDS::DBCluster',
    property: 'DBClusterIdentifier',
    taken: async (aws) => aws.clusters(),
  },
  { many: 'proxies', type: 'AWS::RDS::DBProxy', property: 'DBProxyName', taken: async (aws) => aws.proxies() },
  {
    // Protected environments keep them, even after a failed first deployment.
    many: 'log groups',
    type: 'AWS::Logs::LogGroup',
    property: 'LogGroupName',
    async taken(aws, names) {
      // /aws/rds/…
      const byService = Map.groupBy(names, (name) => name.split('/')[2]);
      return (await Promise.all([...byService.values()].map((some) => aws.logGroups(commonStart(some))))).flat();
    },
  },
];

/** Names in the templates must be free. */
export const nameChecks: ChecksOf = (needs) => KINDS.flatMap((kind) => checksOfKind(needs, kind));

function checksOfKind(needs: Needs, { many, type, property, taken }: NameKind): readonly Check[] {
  const names = textsOf(needs, type, property);
  if (names.length === 0) return [];
  const holders = new Set(resourcesOf(needs, type).map(({ stack }) => stack));
  return [
    {
      name: `names of ${many}`,
      wanted: names.length === 1 ? `${names[0]} free` : `${names[0]} and ${names.length - 1} more free`,
      async judge(aws) {
        const known = new Set(await taken(aws, names));
        const used = names.filter((name) => known.has(name));
        if (used.length === 0) return { verdict: 'ok', found: 'free' };
        const found = `taken: ${used.join(', ')}`;
        for (const { name: stack } of needs.stacks)
          if (holders.has(stack) && isStanding(await aws.stackStatus(stack)))
            return { verdict: 'unknown', found, todo: `None, where they are of ${stack}` };
        return { verdict: 'FAIL', found, todo: `Delete these ${many}, once their contents are surely not needed` };
      },
    },
  ];
}

function commonStart(names: readonly string[]): string {
  return names.reduce((start, name) => {
    let length = 0;
    while (length < start.length && start[length] === name[length]) length += 1;
    return start.slice(0, length);
  });
}
