import { describe, expect, it } from 'vitest';
import { erasuresClient } from '../../../shared/client/erasures-client.ts';
import type { ErasureOperations } from '../../../shared/contract/erasure-operations.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { AWAY, ERASED, ERASING, fakeErasures } from '../../functions/support/fake-erasures.ts';
import { gateway, gatewayFetch } from '../../functions/support/gateway.ts';
import { errorOf } from '../../support/datastore-conformance.ts';

const client = (asked: unknown[][] = [], changes: Partial<ErasureOperations> = {}): ErasureOperations =>
  erasuresClient({
    url: 'http://gateway.test',
    datastore: 'trips',
    attempts: 2,
    fetch: gatewayFetch(gateway(fakeDeployment({ ...fakeErasures(asked), ...changes }))),
  });

const ROW = ERASED.row_key;
const reason = 'request 4711';

describe('the erasures of a client', () => {
  it('are asked for as given, and answered with their record', async () => {
    const asked: unknown[][] = [];
    const erasures = client(asked);
    expect(await erasures.erase({ row_key: ROW, reason })).toMatchObject({ scope: 'row', column_name: null });
    await erasures.erase({ row_key: ROW, column_name: 'a/b', reason });
    await erasures.erase({ row_key: ROW, column_name: 'BASE', up_to: 3, reason });
    await erasures.erase({ row_key: ROW, column_name: 'BASE', ref_key: 0, reason });
    expect(asked).toEqual(
      [{}, { column_name: 'a/b' }, { column_name: 'BASE', up_to: 3 }, { column_name: 'BASE', ref_key: 0 }].map(
        (target) => ['erase', { row_key: ROW, ...target, reason }],
      ),
    );
  });

  it('that go on come with what they wait for, and are no error', async () => {
    expect(await client().erase({ row_key: ROW, column_name: AWAY, reason })).toMatchObject({
      state: 'erasing',
      waits_for: ERASING.waits_for,
    });
  });

  it('are listed and shown as the server sees them', async () => {
    expect(await client().erasures()).toEqual({ erasures: [ERASED, ERASING], next: null });
    expect(await client().erasures({ open: true })).toEqual({ erasures: [ERASING], next: null });
    expect(await client().erasures({ limit: 1 })).toEqual({ erasures: [ERASED], next: ERASED.id });
    expect(await client().erasures({ limit: 1, after: ERASED.id })).toEqual({ erasures: [ERASING], next: null });
    expect(await client().erasure(ERASED.id)).toEqual(ERASED);
  });

  it.each([
    ['row_key', 'invalid_field', { row_key: 'x' }],
    ['column_name', 'invalid_field', { column_name: '' }],
    ['column_name', 'invalid_field', { column_name: '\0BASE' }],
    ['column_name', 'missing_field', { ref_key: 1 }],
    ['ref_key', 'invalid_field', { column_name: 'BASE', ref_key: -1 }],
    ['up_to', 'invalid_field', { column_name: 'BASE', up_to: 0.5 }],
    ['up_to', 'invalid_field', { column_name: 'BASE', up_to: 1, ref_key: 1 }],
    ['reason', 'invalid_field', { reason: ' ' }],
    ['reason', 'missing_field', { reason: undefined as unknown as string }],
    ['colum_name', 'unknown_field', { colum_name: 'BASE' }],
  ])('that cannot be are refused, and %s is named: %s', async (field, code, changes) => {
    const asked: unknown[][] = [];
    const error = await errorOf(() => client(asked).erase({ row_key: ROW, reason, ...changes }));
    expect(error).toMatchObject({ code, field, retry: 'never' });
    expect(asked).toEqual([]);
  });

  it('that are not there are refused in the words of the server', async () => {
    const unknown = '00000000-0000-5000-8000-000000000000';
    expect(await errorOf(() => client().erasure(unknown))).toMatchObject({ code: 'unknown_erasure', status: 404 });
    expect(await errorOf(() => client().erasure('first'))).toMatchObject({ code: 'invalid_field', field: 'erasure' });
    expect(await errorOf(() => client().erasures({ after: 'x' }))).toMatchObject({
      code: 'invalid_field',
      field: 'after',
    });
  });

  it('are asked for again when their state was away', async () => {
    let times = 0;
    const erase: ErasureOperations['erase'] = async (target) => {
      times += 1;
      if (times === 1) throw new SchemalessError('unavailable', 'the state table did not answer');
      return fakeErasures().erase(target);
    };
    expect(await client([], { erase }).erase({ row_key: ROW, reason })).toMatchObject({ state: 'erased' });
    expect(times).toBe(2);
  });
});
