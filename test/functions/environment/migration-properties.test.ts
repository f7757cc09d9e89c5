import { describe, expect, it } from 'vitest';
import { readDesiredState } from '../../../functions/environment/migration-properties.ts';
import type { DeployedTrigger } from '../../../shared/topology/topology.ts';

const TRIGGERS: readonly DeployedTrigger[] = [
  {
    definition: {
      name: 'bill',
      columns: ['BASE'],
      function: 'functions/bill.ts',
      start: { since: '2026-01-31T08:00:00.000000Z' },
      maxAttempts: 5,
      stopAfterParked: 100,
      retryParkedEveryMs: 600_000,
      timeoutSeconds: 30,
    },
    queueUrl: 'https://sqs.eu-west-1.amazonaws.com/1/bill.fifo',
    parkedQueueUrl: 'https://sqs.eu-west-1.amazonaws.com/1/bill-parked.fifo',
  },
  {
    definition: { name: 'feed', start: 'now', maxAttempts: 1, stopAfterParked: 1, timeoutSeconds: 1 },
    queueUrl: 'https://feed.fifo',
    parkedQueueUrl: 'https://feed-parked.fifo',
  },
];

const USER_SECRETS = { read: 'r', tail: 't', write: 'w', repair: 'x', move: 'm', erase: 'e' };

/** As CloudFormation hands it over: every value a string. */
function properties(datastore: object): object {
  const endpoint = { host: 'db', port: '3306' };
  return {
    Groups: [
      {
        name: 'group-1',
        writer: endpoint,
        reader: endpoint,
        nodes: [endpoint],
        clusterArn: 'arn',
        secret: 's',
        userSecrets: USER_SECRETS,
        sharedStorage: 'true',
      },
    ],
    Datastores: [{ name: 'trips', shards: '16', indexes: '[]', triggers: '[]', ...datastore }],
    Revision: 'x',
  };
}

describe('the properties of a migration', () => {
  it('say groups, datastores, indexes and triggers', () => {
    const indexes = [{ name: 'by_driver', fields: [{ field: 'driver', type: 'UUID', column_key: 'BASE' }], keys: [] }];
    expect(
      readDesiredState(properties({ indexes: JSON.stringify(indexes), triggers: JSON.stringify(TRIGGERS) })),
    ).toEqual({
      groups: [
        {
          name: 'group-1',
          writer: { host: 'db', port: 3306 },
          reader: { host: 'db', port: 3306 },
          nodes: [{ host: 'db', port: 3306 }],
          clusterArn: 'arn',
          secret: 's',
          userSecrets: USER_SECRETS,
          sharedStorage: true,
        },
      ],
      datastores: [{ name: 'trips', shards: 16, indexes, triggers: TRIGGERS }],
    });
  });

  it('are refused with text that is no JSON', () => {
    expect(() => readDesiredState(properties({ triggers: '[{' }))).toThrow('triggers: wanted JSON text');
  });
});
