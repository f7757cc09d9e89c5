import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import { Alias, Function as LambdaFunction, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda';
import { afterAll, describe, expect, it } from 'vitest';
import { readDesiredState } from '../../../functions/environment/migration-properties.ts';
import type { TriggerOptions } from '../../../infra/constructs/index.ts';
import { CONSUMER_VARIABLES, ENVIRONMENT_VARIABLES } from '../../../shared/environment.ts';
import { circleIn } from '../support/references.ts';
import { byService, statementsOf } from '../support/statements.ts';
import { propertiesOf, resolvedByName, resourcesOf } from '../support/synthesized.ts';
import { writeFiles } from '../support/write-files.ts';
import { standInApp } from './stand-in-store.ts';

const NAME = { name: 'bill_rider' };
const FLASH = Duration.millis(1);

describe('onCell is refused', () => {
  // A refusal leaves nothing behind, so that all cases share a store.
  const app = standInApp();
  afterAll(() => app[Symbol.dispose]());
  const store = app.store();
  const trips = store.datastore('trips');
  const fn = app.lambda('Fn');
  const cases: readonly (readonly [string, string | readonly string[], TriggerOptions, string])[] = [
    ['a column without a name', '', NAME, 'columns[0]: wanted text of 1 to 255 bytes, got ""'],
    ['no column', [], NAME, "columns: wanted a list of column names, or '*' for every column, got an empty list"],
    ['a column that is half a letter', 'a\ud800', NAME, 'columns[0]: wanted text of 1 to 255 bytes, got '],
    [
      'every column among others',
      ['BASE', '*'],
      NAME,
      "columns[1]: wanted a column name; for every column say columns: '*'",
    ],
    ['a column twice', ['BASE', 'BASE'], NAME, 'columns[1]: wanted each column once, got "BASE" again'],
    ['a name in capitals', 'BASE', { name: 'Bill' }, 'name: wanted a name of 1 to 48 of a-z, 0-9 and _'],
    [
      'too many attempts',
      'BASE',
      { ...NAME, maxAttempts: 101 },
      'maxAttempts: wanted a whole number from 1 to 100 with a function',
    ],
    [
      'no parked cell',
      'BASE',
      { ...NAME, stopAfterParked: 0 },
      'stopAfterParked: wanted a whole number from 1 to 10000',
    ],
    ['half a second', 'BASE', { ...NAME, timeout: Duration.millis(500) }, 'timeout: wanted a time from 1s to 10m'],
    [
      'a retry in a flash',
      'BASE',
      { ...NAME, retryParkedEvery: FLASH },
      'retryParkedEvery: wanted a time from 500ms to 30d',
    ],
  ];
  it.each(cases)('for %s', (_what, columns, options, message) => {
    expect(() => trips.onCell(columns, fn, options)).toThrow(`trigger ${options.name} of trips: ${message}`);
    expect(() => trips.trigger(options.name)).toThrow(`datastore trips: wanted one of its triggers (none), got`);
  });

  it('for a datastore, a name or a function that cannot be', () => {
    expect(() => store.datastore('trip')).toThrow('Shop/Store: wanted one of its datastores (trips), got trip');
    trips.onCell('BASE', fn, NAME);
    expect(() => trips.onCell('BASE', app.lambda('Fn2'), NAME)).toThrow(
      'trigger bill_rider of trips: wanted a name of its own, got that of another trigger',
    );
    expect(() => trips.onCell('BASE', fn, { name: 'other' })).toThrow(
      'trigger other of trips: wanted a function of its own, got Shop/Fn, which is that of trigger bill_rider of trips',
    );
    const imported = LambdaFunction.fromFunctionName(app.stack, 'Imported', 'elsewhere');
    expect(() => trips.onCell('BASE', imported, { name: 'imported' })).toThrow(
      'trigger imported of trips: wanted a function that this app makes, since it needs variables and rights, got the imported Shop/Imported',
    );
    for (const seconds of [89, 361])
      expect(() =>
        trips.onCell('BASE', app.lambda(`Fn${seconds}`, Duration.seconds(seconds)), { name: `after_${seconds}` }),
      ).toThrow(
        `trigger after_${seconds} of trips: wanted a timeout from 90 to 360 s of the function Shop/Fn${seconds}, got ${seconds} s. It covers 30 s for each of up to ten cells, and a minute to count and to hand back`,
      );
  });
});

describe('a trigger of the YAML', () => {
  const FILES = {
    'trips/datastore.yaml': 'datastore: trips\nshards: 16\n',
    'trips/triggers/bill_rider.yaml': 'trigger: bill_rider\ndatastore: trips\ncolumns: [BASE]\nfunction: src/bill.ts\n',
    'trips/triggers/elsewhere.yaml': "trigger: elsewhere\ndatastore: trips\ncolumns: '*'\n",
  };

  it('that names a function is to be given it, and one that names none is for consumers elsewhere', () => {
    using app = standInApp();
    const datastores = writeFiles(join(app.folder, 'datastores'), FILES);
    const trips = app.store({ datastores }).datastore('trips');
    expect(() => app.synthesized()).toThrow(
      "trigger bill_rider of trips names the function src/bill.ts: wanted store.datastore('trips').onTrigger('bill_rider', fn) to give it, got none",
    );
    expect(() => trips.onTrigger('elsewhere', app.lambda('Other'))).toThrow(
      'trigger elsewhere of trips: wanted a definition with function, since without one its consumers are elsewhere, got none',
    );
    trips.onTrigger('bill_rider', app.lambda('Fn'));
    expect(() => trips.onTrigger('bill_rider', app.lambda('Second'))).toThrow(
      'trigger bill_rider of trips: wanted one function, got Shop/Second besides Shop/Fn',
    );
    trips.onCell('BASE', app.lambda('Own'), { name: 'own' });
    expect(() => trips.onTrigger('own', app.lambda('Third'))).toThrow(
      'trigger own of trips: wanted one function, got Shop/Third besides Shop/Own',
    );
    expect(resourcesOf(app.synthesized(), 'AWS::Lambda::EventSourceMapping')).toHaveLength(2);
  });
});

it('a store without triggers starts no tailer; one with triggers does, and passes them to the migration', () => {
  using without = standInApp();
  without.store();
  const slots = (stacks: ReturnType<typeof without.synthesized>): readonly string[] =>
    propertiesOf(stacks, 'AWS::Scheduler::Schedule')
      .map(({ Description }) => String(Description))
      .filter((text) => text.includes('slot'));
  const untriggered = without.synthesized();
  expect([slots(untriggered), resourcesOf(untriggered, 'AWS::SQS::Queue')]).toEqual([[], []]);

  using app = standInApp();
  const datastores = ['trips', 'riders'].map((datastore) => ({ datastore, shards: 16 }));
  const trips = app.store({ tailers: 2, datastores }).datastore('trips');
  trips.onCell(['BASE', 'NOTES'], app.lambda('Fn'), {
    ...NAME,
    start: new Date('2026-01-31T08:00:00Z'),
    maxAttempts: 7,
  });
  const queued = trips.queueFor('*', { name: 'elsewhere', maxAttempts: 700, retryParkedEvery: 'never' });
  const stacks = app.synthesized();
  expect(slots(stacks)).toHaveLength(2);
  const { resources, property } = resolvedByName(stacks);
  const [migration] = resources.filter(({ resource }) => resource.Type === 'Custom::SchemalessMigration');
  if (!migration) throw new Error('wanted a migration');
  const desired = readDesiredState({
    Groups: property(migration, 'Groups'),
    Datastores: property(migration, 'Datastores'),
  });
  const deployed = (definition: object, ofQueue: string) => ({
    definition,
    queueUrl: expect.stringMatching(`^Storequeuetrips${ofQueue}queue`),
    parkedQueueUrl: expect.stringMatching(`^Storequeuetrips${ofQueue}parked`),
  });
  const rules = { start: 'start', stopAfterParked: 100, timeoutSeconds: 30 };
  const billing = { ...rules, start: { since: '2026-01-31T08:00:00.000000Z' }, retryParkedEveryMs: 600_000 };
  const columns = ['BASE', 'NOTES'];
  expect(desired.datastores.map(({ name, triggers }) => [name, triggers])).toEqual([
    [
      'trips',
      [
        deployed({ ...billing, name: 'bill_rider', columns, function: 'Shop/Fn', maxAttempts: 7 }, 'billrider'),
        deployed({ ...rules, name: 'elsewhere', maxAttempts: 700 }, 'elsewhere'),
      ],
    ],
    ['riders', []],
  ]);
  expect(queued.queue.fifo).toBe(true);
  expect(resourcesOf(stacks, 'AWS::Lambda::EventSourceMapping')).toHaveLength(1);
  for (const stack of stacks) expect(circleIn(stack)).toEqual([]);
});

it('a function gets its variables and rights, is called by its alias, and starts after the migration', () => {
  using app = standInApp();
  const fn = app.lambda('Fn');
  const alias = new Alias(app.stack, 'Live', { aliasName: 'live', version: fn.currentVersion as IVersion });
  app
    .store()
    .datastore('trips')
    .onCell('*', alias as IFunction, NAME);
  const stacks = app.synthesized();
  const [mapping] = resourcesOf(stacks, 'AWS::Lambda::EventSourceMapping');
  expect(JSON.stringify(mapping?.Properties?.['FunctionName'])).toContain('Live');
  expect(JSON.stringify(mapping?.Properties?.['EventSourceArn'])).toContain('Storequeuetripsbillriderqueue');
  expect(Object(mapping).DependsOn).toContainEqual(expect.stringMatching(/^Storemigrationresource/u));
  // The same variables and rights as functions of definitions have: see the tests of the stacks.
  const [called, ...others] = propertiesOf(stacks, 'AWS::Lambda::Function').flatMap(({ Environment }) => {
    const { Variables = {} } = Object(Environment);
    return 'SCHEMALESS_API_URL' in Variables ? [Object.keys(Variables)] : [];
  });
  expect(others).toEqual([]);
  expect(called).toEqual(expect.arrayContaining(CONSUMER_VARIABLES.map((key) => ENVIRONMENT_VARIABLES[key])));
  const granted = byService(statementsOf(stacks).get('Fn'));
  expect(Object.keys(granted).sort()).toEqual(['dynamodb', 'execute-api', 'sqs']);
});
