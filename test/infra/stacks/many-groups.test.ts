import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { App } from 'aws-cdk-lib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { buildApp } from '../../../infra/app.ts';
import { checkEnvironment } from '../../../infra/constructs/check-environment.ts';
import { GROUPS_IN_FIRST_STACK } from '../../../infra/constructs/group-stacks.ts';
import { MOST_GROUPS } from '../../../infra/constructs/store-environment.ts';
import { ENVIRONMENTS } from '../../../infra/environments.ts';
import type { LoadedStack } from '../../../infra/local/template/template.ts';
import { checkAwsSolutions } from '../../../infra/nag.ts';
import { words } from '../../support/words.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { circleIn } from '../support/references.ts';
import { propertiesOf, synthesized } from '../support/synthesized.ts';
import { exceededIn } from '../support/template-limits.ts';
import { mostVariableBytes } from '../support/variable-bytes.ts';

const folder = folderOfTests();
const STORAGE = 'Schemaless-prod-storage';
const SERVICE = 'Schemaless-prod-service';

function prodOf(groups: number, add?: (stacks: ReturnType<typeof buildApp>) => void): readonly LoadedStack[] {
  return synthesized(
    join(folder.path, String(groups)),
    { environment: 'prod', region: 'eu-west-1' },
    { environment: { groups }, ...(add && { add }) },
  );
}

/** What other stacks take of one; what is printed for people names several groups. */
function exportsOf(template: LoadedStack['template'] | undefined): object {
  return Object.fromEntries(Object.entries(template?.Outputs ?? {}).filter(([, one]) => 'Export' in Object(one)));
}

describe('prod with as many groups as there may be', () => {
  let most: readonly LoadedStack[] = [];
  // Held to the rules of AwsSolutions: the synthesis ends where one is broken and nobody says why.
  beforeAll(() => {
    most = prodOf(MOST_GROUPS, ({ storage: { node } }) => {
      if (node.root instanceof App) checkAwsSolutions(node.root);
    });
  }, 180_000);

  it('has them in stacks of which AWS refuses none', () => {
    const clusters = most.map((stack): readonly [string, readonly unknown[]] => [
      stack.name,
      propertiesOf([stack], 'AWS::RDS::DBCluster').map(({ DBClusterIdentifier }) => DBClusterIdentifier),
    ]);
    const named = (from: number, to: number): readonly string[] =>
      Array.from({ length: to - from + 1 }, (_, at) => `schemaless-prod-group-${from + at}`);
    expect(Object.fromEntries(clusters)).toEqual({
      [STORAGE]: named(1, 12),
      [`${STORAGE}-groups-from-13`]: named(13, 24),
      [`${STORAGE}-groups-from-25`]: named(25, 36),
      [`${STORAGE}-groups-from-37`]: named(37, 40),
      [SERVICE]: [],
    });
    expect(exceededIn(most)).toEqual([]);
    expect(mostVariableBytes(most)).toBeLessThan(4096);
    for (const stack of most) expect(circleIn(stack)).toEqual([]);
  });

  it('has each of them watched, told of, copied, and reached in an emergency', () => {
    const alarms = propertiesOf(most, 'AWS::CloudWatch::Alarm');
    const text = (...types: readonly string[]): string =>
      JSON.stringify(types.flatMap((type) => propertiesOf(most, type)));
    const told = text('AWS::RDS::EventSubscription');
    const copied = text('AWS::Backup::BackupSelection');
    const reached = text('AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy');
    const clusters = most.flatMap(({ template }) =>
      Object.entries(template.Resources).filter(([, { Type }]) => Type === 'AWS::RDS::DBCluster'),
    );
    expect(clusters).toHaveLength(MOST_GROUPS);
    for (const [id, { Properties }] of clusters) {
      const group = String(Properties?.['DBClusterIdentifier']).replace('schemaless-prod-', '');
      const own = alarms.filter(({ AlarmDescription }) => ` ${String(AlarmDescription)} `.includes(` ${group} `));
      expect([group, own.length]).toEqual([group, 9]);
      for (const { AlarmActions } of own) expect(AlarmActions).toHaveLength(1);
      const ref = `{"Ref":"${id}"}`;
      const found = [told.includes(ref), copied.includes(ref), reached.includes(`${ref},"-new"`)];
      expect([group, ...found]).toEqual([group, true, true, true]);
    }
  });

  it('had each of them where it is now, with all that is its own, when there were fewer', () => {
    const full = prodOf(GROUPS_IN_FIRST_STACK);
    const more = prodOf(GROUPS_IN_FIRST_STACK + 2);
    // What names all groups of a stack names more.
    const naming = new Set(
      words(`AWS::RDS::EventSubscription AWS::Backup::BackupSelection AWS::IAM::ManagedPolicy
        Custom::SchemalessPreflight`),
    );
    for (const [before, after] of [[full, more] as const, [more, most] as const])
      for (const { name, template } of before.filter((stack) => stack.name !== SERVICE)) {
        const same = after.find((stack) => stack.name === name)?.template;
        expect(exportsOf(same)).toMatchObject(exportsOf(template));
        for (const [id, resource] of Object.entries(template.Resources))
          expect([id, same?.Resources[id]]).toEqual([id, naming.has(resource.Type) ? expect.anything() : resource]);
      }
  });
});

/*
 * A group more is a changed number and a deploy: nothing that answers, loops or is stored may be replaced or restarted by
 * it. What tells of all groups changes in place.
 */
describe('prod with a group more', () => {
  // With the tenth the commands for emergencies get an output more, and no policy of the migration flows over: those are
  // of all groups.
  const groups = 9;
  let before: readonly LoadedStack[] = [];
  let after: readonly LoadedStack[] = [];
  beforeAll(() => {
    [before, after] = [prodOf(groups), prodOf(groups + 1)];
  });

  /** What is there already and is otherwise with the group, by stack. */
  const changed = (): Readonly<Record<string, ReadonlySet<string>>> =>
    Object.fromEntries(
      before.map(({ name, template }) => {
        const now = after.find((stack) => stack.name === name)?.template.Resources ?? {};
        const others = Object.entries(template.Resources).filter(
          ([id, resource]) => !isDeepStrictEqual(now[id], resource),
        );
        // Which kind of policy it is depends on how much of it there is.
        return [name, new Set(others.map(([, { Type }]) => Type.replace('ManagedPolicy', 'Policy')))];
      }),
    );

  it('has every stack that it had, with all that the service imports', () => {
    expect(after.map(({ name }) => name)).toEqual(before.map(({ name }) => name));
    for (const { name, template } of before)
      expect(after.find((stack) => stack.name === name)?.template.Outputs).toMatchObject(template.Outputs ?? {});
  });

  it('has everything as it was, but for what names all groups', () => {
    const naming = words(`AWS::RDS::EventSubscription AWS::Backup::BackupSelection AWS::IAM::Policy
      Custom::SchemalessPreflight`);
    const told = words('AWS::IAM::Policy AWS::CloudWatch::Dashboard Custom::SchemalessMigration');
    expect(changed()).toEqual({ [STORAGE]: new Set(naming), [SERVICE]: new Set(told) });
  });

  it('adds what each group has, and nothing else', () => {
    const added = (stack: string): readonly string[] => {
      const resources = (some: readonly LoadedStack[]) => some.find(({ name }) => name === stack)?.template.Resources;
      const [old, now] = [resources(before) ?? {}, resources(after) ?? {}];
      return Object.keys(now).filter((id) => old[id] === undefined);
    };
    const ofGroup = new RegExp(`group-?${groups + 1}(?!\\d)`, 'iu');
    expect(added(STORAGE)).not.toEqual([]);
    expect(added(STORAGE).filter((id) => !ofGroup.test(id))).toEqual([]);
    expect(added(SERVICE)).toEqual([]);
  });
});

it('more groups than were tried are refused', () => {
  expect(() => checkEnvironment({ ...ENVIRONMENTS.prod, groups: 41 })).toThrow(
    'prod.groups: wanted a whole number from 1 to 40, got 41',
  );
  expect(() => checkEnvironment({ ...ENVIRONMENTS.prod, groupsInFirstStack: 0 })).toThrow(
    'prod.groupsInFirstStack: wanted a whole number from 1 to 40, got 0',
  );
});
