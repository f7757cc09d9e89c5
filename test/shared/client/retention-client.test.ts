import { expect, it } from 'vitest';
import { retentionClient } from '../../../shared/client/retention-client.ts';
import type { RetentionOperations } from '../../../shared/contract/retention-operations.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { fakeRetention, HOLD, KEPT, PURGE } from '../../functions/support/fake-retention.ts';
import { gateway, gatewayFetch } from '../../functions/support/gateway.ts';
import { errorOf } from '../../support/datastore-conformance.ts';

const client = (asked: unknown[][] = []): RetentionOperations =>
  retentionClient({
    url: 'http://gateway.test',
    datastore: 'trips',
    attempts: 2,
    fetch: gatewayFetch(gateway(fakeDeployment(fakeRetention(asked)))),
  });

it('retention is as the server tells it', async () => {
  expect(await client().retention()).toEqual(KEPT);
  expect(await client().purge()).toEqual(PURGE);
});

it('holds are asked for as given', async () => {
  const asked: unknown[][] = [];
  const row_key = HOLD.row_key ?? '';
  expect(await client(asked).putHold({ hold: 'a/b', row_key, reason: 'evidence' })).toMatchObject({ hold: 'a/b' });
  await client(asked).putHold({ hold: 'a', subject: 'rider#1', reason: 'evidence' });
  expect(await client(asked).holds({ subject: 'rider#1' })).toEqual({ holds: [HOLD], next: null });
  expect(await client(asked).releaseHold({ hold: HOLD.hold, row_key })).toEqual(HOLD);
  expect(asked).toEqual([
    ['putHold', { hold: 'a/b', row_key, subject: null, reason: 'evidence' }],
    ['putHold', { hold: 'a', row_key: null, subject: 'rider#1', reason: 'evidence' }],
    ['holds', { row_key: undefined, subject: 'rider#1', limit: 100, after: undefined }],
    ['releaseHold', { hold: HOLD.hold, row_key, subject: undefined }],
  ]);
});

it('a hold that is not there is refused in the words of the server', async () => {
  const error = await errorOf(() => client().releaseHold({ hold: 'nope', row_key: HOLD.row_key ?? '' }));
  expect(error).toMatchObject({ code: 'unknown_hold', status: 404, field: 'hold' });
});
