import { Stack } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, it } from 'vitest';
import type { AppContext } from '../../../infra/app-context.ts';
import type { LoadedStack } from '../../../infra/local/template/template.ts';
import { judgeDeployment } from '../../../shared/preflight/judge-deployment.ts';
import { runChecks } from '../../../shared/preflight/run-checks.ts';
import { standInApp } from '../constructs/stand-in-store.ts';
import { goodAccount } from '../preflight/good-account.ts';
import { needsOfEnvironment } from '../preflight/needs-of-environment.ts';
import { appOf, propertiesOf, resourcesOf, STAND_INS } from '../support/synthesized.ts';

const TYPE = 'Custom::SchemalessPreflight';
const DEPLOYED = ['dev', 'small', 'staging', 'prod'] as const;

const needsIn = (stacks: readonly LoadedStack[]) => JSON.parse(String(propertiesOf(stacks, TYPE)[0]?.['Needs']));

async function wantedOf(stacks: readonly LoadedStack[]): Promise<readonly (readonly [string, string])[]> {
  const aws = goodAccount({ stackStatus: async () => 'CREATE_IN_PROGRESS' });
  const findings = await judgeDeployment({ stack: 'one', wanted: needsIn(stacks), before: undefined }, aws, 10_000);
  expect(findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
  return findings.map(({ check, wanted }) => [check, wanted]);
}

describe.each(DEPLOYED)('a deployment of %s', (environment) => {
  const { stacks } = appOf({ environment });

  it('makes nothing that takes long, is counted or stays before its account has been asked', () => {
    const [storage] = stacks.filter(({ name }) => name.endsWith('-storage'));
    const resources = Object.entries(storage?.template.Resources ?? {});
    const asking = resources.flatMap(([id, { Type }]) => (Type === TYPE ? [id] : []));
    expect(asking).toHaveLength(1);
    const held = /^AWS::(?:RDS::DB|EC2::|DynamoDB::|SecretsManager::|Backup::|Logs::)|^Custom::Vpc/u;
    const waiting = resources.filter(([id, { Type }]) => held.test(Type) && !id.startsWith('preflight'));
    expect(waiting.length).toBeGreaterThan(20);
    for (const [id, resource] of waiting) expect([Object(resource).DependsOn].flat(), id).toContain(asking[0]);
  });

  it('wants of its account what the command wants of it', async () => {
    const wanted = await wantedOf(stacks);
    const byCommand = await runChecks(needsOfEnvironment(environment), goodAccount());
    expect(byCommand.map(({ check, wanted }) => [check, wanted])).toEqual(expect.arrayContaining([...wanted]));
    // Checks that it cannot make from inside, or that CloudFormation makes.
    const outside = /^(?:account and region|CDK bootstrap|stack .*|services)$/u;
    // Lambda refuses nothing without reservations.
    const unreserved = environment === 'dev' || environment === 'small' ? ['Lambda: concurrent executions'] : [];
    const inside = byCommand.map(({ check }) => check).filter((check) => !outside.test(check));
    expect([...wanted.map(([check]) => check), ...unreserved].toSorted()).toEqual(inside.toSorted());
  });
});

it('does not ask where the context switches it off, nor on one machine', () => {
  const off: AppContext & Readonly<Record<string, unknown>> = { environment: 'prod', 'schemaless:preflight': 'off' };
  expect(resourcesOf(appOf(off).stacks, TYPE)).toEqual([]);
  expect(resourcesOf(appOf({ environment: 'local' }).stacks, TYPE)).toEqual([]);
  const no: typeof off = { ...off, 'schemaless:preflight': 'no' };
  expect(() => appOf(no)).toThrow('schemaless:preflight: wanted on or off, got "no"');
});

describe('a store in an app of one’s own', () => {
  it('asks, whether it is in one stack or in two', async () => {
    using one = standInApp();
    one.store();
    expect((await wantedOf(one.synthesized())).map(([check]) => check)).toContain('RDS: DB clusters');
    using two = standInApp();
    // An asset is of one stack.
    const code = { own: () => Code.fromAsset(STAND_INS) };
    two.store({ access: 'mysql', code, storageScope: new Stack(two.stack.node.root, 'Kept') });
    const stacks = two.synthesized();
    const asking = stacks.filter((stack) => resourcesOf([stack], TYPE).length > 0);
    expect(asking.map(({ name }) => name)).toEqual(['Kept']);
    // Of the functions, which come last.
    expect((await wantedOf(stacks)).map(([check]) => check)).toContain('Lambda: concurrent executions');
  });
});
