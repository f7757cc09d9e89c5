import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { GROUPS_IN_FIRST_STACK } from '../../../infra/constructs/group-stacks.ts';
import { MOST_GROUPS } from '../../../infra/constructs/store-environment.ts';
import type { LoadedStack } from '../../../infra/local/template/template.ts';
import { words } from '../../support/words.ts';
import { circleIn } from '../support/references.ts';
import { appOf, propertiesOf } from '../support/synthesized.ts';
import { exceededIn } from '../support/template-limits.ts';

const STORAGE = 'Schemaless-prod-storage';
const SERVICE = 'Schemaless-prod-service';
/**
 * One more needs one more output for the commands for emergencies, and no second policy of the migration: those are of
 * all groups.
 */
const GROUPS = 9;

const prodOf = (groups: number): readonly LoadedStack[] =>
  appOf({ environment: 'prod', region: 'eu-west-1' }, { groups }).stacks;

/** Returns the outputs that other stacks import; outputs for people name several groups. */
function exportsOf(template: LoadedStack['template'] | undefined): object {
  return Object.fromEntries(Object.entries(template?.Outputs ?? {}).filter(([, one]) => 'Export' in Object(one)));
}

describe('prod with as many groups as there may be', () => {
  const most = prodOf(MOST_GROUPS);

  it('has stacks within the limits of AWS', () => {
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
    for (const stack of most) expect(circleIn(stack)).toEqual([]);
  });

  it('has alarms, events, backups and emergency access for each group', () => {
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

  it('divides the drain and the maintenance into slots, and notices when one of them is not started', () => {
    const inputs = propertiesOf(most, 'AWS::Scheduler::Schedule')
      .map(({ Description, Target }) => [String(Description).split(' ')[1], Object(Target).Input] as const)
      .filter(([name]) => name !== 'tail-shards');
    const slots = Array.from({ length: 5 }, (_, slot) => JSON.stringify({ slot, of: 5 }));
    expect(
      Object.fromEntries(
        [...Map.groupBy(inputs, ([name]) => name)].map(([name, some]) => [name, some.map(([, input]) => input)]),
      ),
    ).toEqual({ 'drain-buffer': slots, maintenance: slots, 'move-shards': [undefined] });
    const reserved = propertiesOf(most, 'AWS::Lambda::Function').filter(
      ({ ReservedConcurrentExecutions }) => ReservedConcurrentExecutions === 11,
    );
    expect(reserved).toHaveLength(2);
    const least = propertiesOf(most, 'AWS::CloudWatch::Alarm')
      .filter(({ AlarmDescription }) => String(AlarmDescription).endsWith('#loop-stopped'))
      .map(({ Threshold }) => Threshold);
    // Of 25 starts in five minutes, 20 are left.
    expect(least.toSorted()).toEqual([1, 1, 21, 21]);
  });

  it('keeps every resource of a group when groups are added', () => {
    const more = prodOf(GROUPS_IN_FIRST_STACK + 2);
    // Resources that name all groups of a stack name more.
    const naming = new Set(
      words(`AWS::RDS::EventSubscription AWS::Backup::BackupSelection AWS::IAM::ManagedPolicy
        Custom::SchemalessPreflight`),
    );
    for (const [before, after] of [[prodOf(GROUPS_IN_FIRST_STACK), more] as const, [more, most] as const])
      for (const { name, template } of before.filter((stack) => stack.name !== SERVICE)) {
        const same = after.find((stack) => stack.name === name)?.template;
        expect(exportsOf(same)).toMatchObject(exportsOf(template));
        for (const [id, resource] of Object.entries(template.Resources))
          expect([id, same?.Resources[id]]).toEqual([id, naming.has(resource.Type) ? expect.anything() : resource]);
      }
  });
});

/* Adding a group is a changed number and a deploy: it may not replace or restart what answers, loops or stores. */
describe('prod with a group more', () => {
  const [before, after] = [prodOf(GROUPS), prodOf(GROUPS + 1)];

  /** Returns the existing resources that change with the new group, by stack. */
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

  it('keeps every stack and export', () => {
    expect(after.map(({ name }) => name)).toEqual(before.map(({ name }) => name));
    for (const { name, template } of before)
      expect(after.find((stack) => stack.name === name)?.template.Outputs).toMatchObject(template.Outputs ?? {});
  });

  it('changes nothing but what names all groups', () => {
    const naming = words(`AWS::RDS::EventSubscription AWS::Backup::BackupSelection AWS::IAM::Policy
      Custom::SchemalessPreflight`);
    const told = words('AWS::IAM::Policy AWS::CloudWatch::Dashboard Custom::SchemalessMigration');
    expect(changed()).toEqual({ [STORAGE]: new Set(naming), [SERVICE]: new Set(told) });
  });

  it('adds the resources of the group alone', () => {
    const added = (stack: string): readonly string[] => {
      const resources = (some: readonly LoadedStack[]) => some.find(({ name }) => name === stack)?.template.Resources;
      const [old, now] = [resources(before) ?? {}, resources(after) ?? {}];
      return Object.keys(now).filter((id) => old[id] === undefined);
    };
    const ofGroup = new RegExp(`group-?${GROUPS + 1}(?!\\d)`, 'iu');
    expect(added(STORAGE)).not.toEqual([]);
    expect(added(STORAGE).filter((id) => !ofGroup.test(id))).toEqual([]);
    expect(added(SERVICE)).toEqual([]);
  });
});
