import { randomUUID } from 'node:crypto';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { describe, expect, inject, it } from 'vitest';
import { ROUTES } from '../../shared/api/operations.ts';
import { apiClient } from '../../shared/client/api-client.ts';
import { requestSigner } from '../../shared/client/sign-request.ts';
import type { GroupHealth } from '../../shared/api/service.ts';
import { cellOf } from '../support/datastore-conformance.ts';
import { isLocal } from '../support/deployed/options.ts';
import { DATASTORE } from '../support/deployed/reach.ts';
import { ask, noteRequests, notingFetch, smokeStore } from './smoke-store.ts';

/** An entry that its write has missed is brought by the repair, a few seconds behind. */
const INDEX = { timeout: 30_000, interval: 50 };
const READER = { timeout: 10_000, interval: 50 };
/** Its workers may have to be started first, once a minute, and its function too. */
const TRIGGER = { timeout: 90_000, interval: 100 };

const { url, region, readers } = inject('smoke');
const sign = requestSigner(region);
const store = smokeStore();
const api = apiClient({ url, datastore: DATASTORE, sign, fetch: notingFetch });
const since = (start: number): string => `${Math.round(performance.now() - start)} ms`;
noteRequests();

describe('smoke: the environment', () => {
  it('is well in every group', async () => {
    const health = Object(await (await ask('GET', '/v1/health', sign)).json()) as {
      readonly status: string;
      readonly groups: readonly GroupHealth[];
    };
    const unwell = health.groups.flatMap(({ group, writer, reader }) =>
      Object.entries({ writer, reader }).map(
        ([role, { state, error }]) => `${role} of ${group} is ${state}${error === undefined ? '' : `: ${error}`}`,
      ),
    );
    expect(unwell.filter((line) => !line.endsWith(' is up'))).toEqual([]);
    expect(health.status).toBe('ok');
  });

  it('describes every route that this checkout knows', async () => {
    const { openapi, paths } = Object(await (await ask('GET', '/v1/openapi.json', sign)).json()) as {
      readonly openapi: string;
      readonly paths: Readonly<Record<string, object>>;
    };
    expect(openapi).toMatch(/^3\.1\./u);
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described).toEqual(expect.arrayContaining(ROUTES.map(({ method, path }) => `${method} ${path}`)));
  });

  it('refuses requests that are unsigned, or signed with another secret, on every route', async ({ skip }) => {
    if (isLocal(new URL(url)) && (await ask('GET', '/v1/health', undefined)).status !== 403)
      return skip('this local stack takes unsigned requests: see --check-signatures of npm start');
    const imposter = requestSigner(region, { ...(await defaultProvider()()), secretAccessKey: 'another' });
    // These change nothing, even if the API accepts them.
    const places: Readonly<Record<string, string>> = {
      datastore: DATASTORE,
      row_key: randomUUID(),
      column_name: 'UNSIGNED',
      ref_key: '1',
      shard: '0',
      index: 'nothing',
      trigger: 'nothing',
    };
    const answers = await Promise.all(
      ROUTES.map(async ({ method, path }) => {
        const place = path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => places[name] ?? name);
        return `${method} ${path}: ${(await ask(method, place, undefined)).status}, ${(await ask(method, place, imposter)).status}`;
      }),
    );
    expect(answers).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}: 403, 403`));
  });

  it('gives from a reader what was written', async ({ skip, annotate }) => {
    if (!readers) return skip('no group has a reader that can be asked');
    const cell = cellOf({ body: { read: 'from a reader' } });
    const stored = await store.put(cell);
    const start = performance.now();
    expect(stored).toMatchObject({ outcome: 'stored' });
    const min_added_id = 'added_id' in stored ? stored.added_id : undefined;
    // Until it has the cell, the writer answers instead. If the writer cannot, the reader answers as stale.
    const fresh = { cell: { body: cell.body }, served_by: 'reader', stale: false };
    await expect.poll(() => store.get(cell, { read: 'reader', min_added_id }), READER).toMatchObject(fresh);
    await annotate(`a reader showed a cell ${since(start)} after its put was answered`);
  });

  it('finds a row by a field of a cell that was put', async ({ annotate }) => {
    const driver_uuid = randomUUID();
    const cell = cellOf({ body: { driver_uuid, city: 'Lisbon' } });
    expect(await store.put(cell)).toMatchObject({ outcome: 'stored' });
    const start = performance.now();
    const find = async () =>
      (
        await store.query({
          index: 'driver_index',
          where: { driver_uuid: driver_uuid },
        })
      ).entries.map(({ row_key, fields }) => [row_key, fields['city']]);
    await expect.poll(find, INDEX).toEqual([[cell.row_key, 'Lisbon']]);
    await annotate(`an index showed a cell ${since(start)} after its put was answered`);
  });

  it('calls the function of a trigger for a cell that was put', async ({ annotate }) => {
    const call = cellOf({ column_name: 'CALL', body: { output: randomUUID() } });
    expect(await store.put(call)).toMatchObject({ outcome: 'stored' });
    const start = performance.now();
    const echo = async () => (await store.get({ ...call, column_name: 'ECHO' })).cell?.body;
    try {
      await expect.poll(echo, TRIGGER).toEqual(call.body);
    } catch (cause) {
      const { state, reason, lag, parked, failing } = await api.getTrigger({ trigger: 'echo', limit: 1 });
      throw new Error(
        `no ECHO of ${call.row_key} in ${TRIGGER.timeout / 1000} s: trigger echo is ${state}${reason === null ? '' : ` (${reason})`}, ${lag.cells} cells behind, ${failing} failing, ${parked} parked`,
        { cause },
      );
    }
    await annotate(`the function of a trigger had written ${since(start)} after the put was answered`);
  });
});
