import { Duration } from 'aws-cdk-lib';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { afterAll, describe, expect, it } from 'vitest';
import type { ExportOptions } from '../../../infra/constructs/index.ts';
import { METRICS } from '../../../shared/metrics.ts';
import { circleIn } from '../support/references.ts';
import { byService, routesOf, statementsOf } from '../support/statements.ts';
import { propertiesOf } from '../support/synthesized.ts';
import { standInApp, type StandInApp } from './stand-in-store.ts';

const lake = (app: StandInApp): IBucket => new Bucket(app.stack, 'Lake') as IBucket;

describe('an export by schedule', () => {
  it('runs the function of the package at an interval, and raises an alarm when it does not', () => {
    using app = standInApp();
    const trips = app.store().datastore('trips');
    const { location } = trips.exportTo(lake(app), { every: Duration.minutes(15), prefix: 'lake/trips' });
    expect(app.stack.resolve(location)).toMatchObject({
      'Fn::Join': ['', ['s3://', expect.anything(), '/lake/trips']],
    });
    const stacks = app.synthesized();
    const made = propertiesOf(stacks, 'AWS::Lambda::Function').filter(
      ({ Description }) => Description === 'Schemaless: export ndjson of trips',
    );
    expect(made).toHaveLength(1);
    expect(made[0]).toMatchObject({
      Timeout: 900,
      EphemeralStorage: { Size: 2048 },
      Environment: {
        Variables: {
          SCHEMALESS_EXPORT_FORMAT: 'ndjson',
          SCHEMALESS_EXPORT_COMPRESSION: 'gzip',
          SCHEMALESS_DATASTORE: 'trips',
        },
      },
    });
    expect(made[0]).not.toHaveProperty('VpcConfig');
    const starts = propertiesOf(stacks, 'AWS::Scheduler::Schedule').map((schedule) => schedule['ScheduleExpression']);
    expect(starts).toContain('rate(15 minutes)');
    const alarm = propertiesOf(stacks, 'AWS::CloudWatch::Alarm').find(
      ({ MetricName }) => MetricName === METRICS.exportBehindSeconds,
    );
    expect(alarm).toMatchObject({
      Threshold: 2700,
      Period: 900,
      EvaluationPeriods: 3,
      TreatMissingData: 'breaching',
      Dimensions: [
        { Name: 'export', Value: app.stack.resolve(location) },
        { Name: 'service', Value: expect.stringContaining('store') },
      ],
    });
    for (const stack of stacks) expect(circleIn(stack)).toEqual([]);
  });

  it('may be one of several, of a bucket that is there already, and may do nothing else with it or with the store', () => {
    using app = standInApp();
    const trips = app.store().datastore('trips');
    const bucket = Bucket.fromBucketName(app.stack, 'Lake', 'our-lake');
    trips.exportTo(bucket);
    trips.exportTo(bucket, { format: 'parquet', prefix: 'parquet/trips' });
    const policies = statementsOf(app.synthesized());
    const written = (role: string): unknown =>
      policies.get(role)?.find(({ actions }) => actions.includes('s3:PutObject'))?.resources;
    expect(written('Storeexporttripsndjson')).toEqual([expect.stringContaining(':s3:::our-lake/trips/part-*"')]);
    const granted = byService(policies.get('Storeexporttripsparquet'));
    expect(Object.keys(granted).sort()).toEqual(['dynamodb', 'execute-api', 's3', 'xray']);
    expect(routesOf(granted['execute-api'])).toEqual([
      'GET/v1/trips/indexes',
      'GET/v1/trips/shards',
      'POST/v1/trips/log',
    ]);
    expect(granted['s3']?.map(({ actions, resources }) => [actions, resources])).toEqual([
      [['s3:ListBucket'], [expect.stringContaining(':s3:::our-lake"')]],
      [['s3:PutObject', 's3:AbortMultipartUpload'], [expect.stringContaining('our-lake/parquet/trips/part-*"')]],
      [['s3:GetObject', 's3:DeleteObject'], [expect.stringContaining('our-lake/parquet/trips/part-*/_*"')]],
    ]);
  });
});

describe('an export is refused', () => {
  const app = standInApp();
  afterAll(() => app[Symbol.dispose]());
  const trips = app.store().datastore('trips');
  const bucket = lake(app);
  const cases: readonly (readonly [string, ExportOptions, RegExp])[] = [
    ['too often', { every: Duration.minutes(4) }, /trips, every: wanted 5 minutes to a day, .*got 4 minutes$/u],
    ['too seldom', { every: Duration.days(2) }, /trips, every: wanted 5 minutes to a day, .*got 2 days$/u],
    ['everywhere', { prefix: 'lake/*' }, /trips, prefix: wanted names of .*, got lake\/\*$/u],
    ['nowhere', { prefix: '' }, /trips, prefix: wanted names of .*, got $/u],
    ['with a slash too many', { prefix: '/trips/' }, /trips, prefix: wanted names of .*, got \/trips\/$/u],
    ['packed twice', { format: 'parquet', compression: 'gzip' }, /trips, compression: wanted none with parquet/u],
    ['as something else', { format: 'csv' as 'ndjson' }, /trips, format: wanted ndjson or parquet, got csv$/u],
    ['under no name', { name: 'A' }, /trips, name: wanted 1 to 30 of a-z, 0-9 and single hyphens, got A$/u],
  ];
  it.each(cases)('%s', (_what, options, message) => {
    expect(() => trips.exportTo(bucket, options)).toThrow(message);
  });

  it('in the place of another one, or under its name', () => {
    trips.exportTo(bucket);
    expect(() => trips.exportTo(bucket, { name: 'other' })).toThrow(
      /wanted a name and a place of its own, got one of/u,
    );
    expect(() => trips.exportTo(bucket, { prefix: 'other' })).toThrow(/wanted a name and a place of its own/u);
  });
});
