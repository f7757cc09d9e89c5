import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { apiClient } from '../../shared/client/api-client.ts';
import { requestSigner } from '../../shared/client/sign-request.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { cellOf } from '../support/datastore-conformance.ts';
import { DATASTORE } from '../support/deployed/reach.ts';
import { noteRequests, notingFetch, smokeStore } from './smoke-store.ts';

/** If the first call does not finish an erasure, the background continues within a minute. */
const ERASED = { timeout: 120_000, interval: 500 };
/** Each instance caches keys for a few seconds. */
const FORGOTTEN = { timeout: 30_000, interval: 500 };
const REASON = 'npm run smoke';
const NOT_ALLOWED = 'the caller lacks the policy erasers or operators';

const { url, region } = inject('smoke');
const store = smokeStore();
const api = apiClient({ url, datastore: DATASTORE, sign: requestSigner(region), fetch: notingFetch });
noteRequests();

/** Returns the result of a request, or the code with which it was refused. */
async function unlessRefused<T>(asked: Promise<T>, codes: readonly string[]): Promise<T | string> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof SchemalessError && codes.includes(error.code)) return error.code;
    throw error;
  }
}

describe('smoke: forgetting', () => {
  it('erases a row, and keeps it from coming back', async ({ skip }) => {
    const cell = cellOf({ body: { output: randomUUID() } });
    expect(await store.put(cell)).toMatchObject({ outcome: 'stored' });
    const asked = await unlessRefused(api.eraseCells({ row_key: cell.row_key, reason: REASON }), ['denied']);
    if (typeof asked === 'string') return skip(NOT_ALLOWED);
    await expect
      .poll(async () => api.getErasure({ erasure: asked.id }), ERASED)
      .toMatchObject({ state: 'erased', waits_for: null, reason: REASON });
    expect(await store.get(cell)).toMatchObject({ cell: { erased: true, body: null }, erasure: { id: asked.id } });
    expect(await store.put(cell)).toMatchObject({ outcome: 'erased' });
  });

  it('forgets a subject, and its sealed fields become unreadable', async ({ skip }) => {
    // The datastore may seal the secret; as deployed, it seals nothing.
    const subject = randomUUID();
    const cell = cellOf({ column_name: 'SEALED', body: { subject_uuid: subject, secret: randomUUID() } });
    expect(await store.put(cell)).toMatchObject({ outcome: 'stored' });
    const { cell: kept } = await store.get(cell, { sealed: true });
    const isSealed = JSON.stringify(kept?.body).includes('$sealed');
    const asked = await unlessRefused(api.forgetSubject({ subject, reason: REASON }), ['denied', 'no_root_key']);
    if (asked === 'denied') return skip(NOT_ALLOWED);
    if (typeof asked === 'string') return skip('this environment seals nothing: it has no root key');
    expect(asked).toMatchObject({ had_key: isSealed, reason: REASON });
    if (!isSealed) return;
    await expect
      .poll(async () => (await store.get(cell)).cell, FORGOTTEN)
      .toMatchObject({ body: { subject_uuid: subject, secret: null }, forgotten: ['secret'] });
  });
});
