import { describe, expect, it } from 'vitest';
import { ENVIRONMENT_NAMES, ENVIRONMENTS } from '../../../infra/environments.ts';
import { statementsOf } from '../support/statements.ts';
import { appOf, propertiesOf, resourcesOf } from '../support/synthesized.ts';

const DEPLOYED = ENVIRONMENT_NAMES.filter((name) => name !== 'local');

describe.each(DEPLOYED)('the SQL of the runbook in %s', (environment) => {
  const { groups } = ENVIRONMENTS[environment];
  const { stacks } = appOf({ environment });
  const resources = stacks.flatMap(({ template }) => Object.entries(template.Resources));
  const [id = '', role] = resources.find(([name]) => name.startsWith('breakglassrole')) ?? [];

  it('is run by people of the account alone, with a second factor, for an hour', () => {
    expect(role?.Properties).toMatchObject({
      MaxSessionDuration: 3600,
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Action: 'sts:AssumeRole',
            Effect: 'Allow',
            Condition: {
              Bool: { 'aws:MultiFactorAuthPresent': 'true' },
              StringEquals: { 'aws:RequestedRegion': { Ref: 'AWS::Region' } },
            },
            Principal: { AWS: expect.anything() },
          },
        ],
      },
    });
    expect(JSON.stringify(Object(role?.Properties).AssumeRolePolicyDocument.Statement[0].Principal)).toContain(':root');
  });

  it('is run on each group, over the Data API, as its owner, and nothing else is let', () => {
    const [, statements = []] = [...statementsOf(stacks)].find(([name]) => name.startsWith('breakglassrole')) ?? [];
    const allowed = statements.flatMap(({ actions, resources }) =>
      actions.flatMap((action) => resources.map((resource) => [action, resource] as const)),
    );
    expect(new Set(allowed.map(([action]) => action))).toEqual(
      new Set(['rds-data:ExecuteStatement', 'secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret']),
    );
    // Each cluster, and one that is to take its place.
    expect(allowed).toHaveLength(4 * groups);
    for (const [, resource] of allowed) expect(resource).not.toContain('*');
    for (const cluster of propertiesOf(stacks, 'AWS::RDS::DBCluster'))
      expect(cluster).toMatchObject({ EnableHttpEndpoint: true });
  });

  it('is told of at once, and printed as a command for each group', () => {
    const [rule, ...others] = resourcesOf(stacks, 'AWS::Events::Rule').filter((one) =>
      JSON.stringify(one).includes('aws.sts'),
    );
    expect(others).toEqual([]);
    expect(rule?.Properties).toMatchObject({
      // Roles are assumed by calls that count as reading.
      State: 'ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS',
      EventPattern: {
        source: ['aws.sts'],
        'detail-type': ['AWS API Call via CloudTrail'],
        detail: { eventName: ['AssumeRole'] },
      },
      Targets: [{ Arn: { Ref: expect.stringMatching(/^alarmsurgent/u) } }],
    });
    expect(JSON.stringify(Object(rule?.Properties).EventPattern)).toContain(id);
    const policies = propertiesOf(stacks, 'AWS::SNS::TopicPolicy').map((policy) => JSON.stringify(policy));
    // The other topic hears of failed backups.
    const told = ENVIRONMENTS[environment].backups ? 2 : 1;
    expect(policies.filter((policy) => policy.includes('events.amazonaws.com'))).toHaveLength(told);
    const printed = JSON.stringify(stacks.flatMap(({ template }) => Object.values(template.Outputs ?? {})));
    expect(printed.match(/aws rds-data execute-statement/gu)).toHaveLength(groups);
  });
});
