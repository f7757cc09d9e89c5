/**
 * What somebody writes against a client that was generated from the API's description: puts, reads, a query, a log, a
 * trigger's state and an error, each typed by the description alone. Prints what it found as one line of JSON.
 */
import createClient from 'openapi-fetch';
import type { paths } from './schema.d.ts';

const api = createClient<paths>({ baseUrl: process.argv[2] ?? 'http://127.0.0.1:4000' });
const rowKey = crypto.randomUUID();
const driver = crypto.randomUUID();
const address = { datastore: 'trips', row_key: rowKey, column_name: 'BASE', ref_key: 1 };
const body = { driver_partner_uuid: driver, city_uuid: crypto.randomUUID(), trip_created_at: '2026-01-31T08:00:00Z' };

const put = await api.PUT('/v1/{datastore}/cells/{row_key}/{column_name}/{ref_key}', {
  params: { path: address },
  body,
});
const stored = put.data && 'added_id' in put.data ? put.data : undefined;
const again = await api.PUT('/v1/{datastore}/cells/{row_key}/{column_name}/{ref_key}', {
  params: { path: address },
  body,
});
const refused = await api.PUT('/v1/{datastore}/cells/{row_key}/{column_name}/{ref_key}', {
  params: { path: address },
  body: { other: true },
});

const batch = await api.POST('/v1/{datastore}/batch-put', {
  params: { path: { datastore: 'trips' } },
  body: { cells: [2, 3].map((ref_key) => ({ row_key: rowKey, column_name: 'BASE', ref_key, body })) },
});
const latest = await api.GET('/v1/{datastore}/cells/{row_key}/{column_name}', { params: { path: address } });
const versions = await api.GET('/v1/{datastore}/cells/{row_key}/{column_name}/versions', {
  params: { path: address, query: { order: 'asc', limit: 2 } },
});
const query = async () =>
  api.GET('/v1/{datastore}/indexes/{index}', {
    params: { path: { datastore: 'trips', index: 'driver_partner_index' } },
    // The fields of an index are parameters of their own, which a description cannot name.
    querySerializer: () => new URLSearchParams({ driver_partner_uuid: driver, fields: 'city_uuid' }).toString(),
  });
let found = 0;
// An entry comes with its cell as a rule, and later where the machine is busy.
while (found === 0) {
  const { data } = await query();
  found = data && 'entries' in data ? data.entries.length : 0;
}
const log = await api.GET('/v1/{datastore}/shards/{shard}/cells', {
  params: { path: { datastore: 'trips', shard: stored?.shard ?? 0 }, query: { after: (stored?.added_id ?? 1) - 1 } },
});
const trigger = await api.GET('/v1/{datastore}/triggers/{trigger}', {
  params: { path: { datastore: 'trips', trigger: 'bill_rider' } },
});
const wrong = await api.GET('/v1/{datastore}/cells/{row_key}/{column_name}', {
  params: { path: { ...address, row_key: 'no-uuid' } },
});

// @ts-expect-error a parameter that the description does not have
await api.GET('/v1/{datastore}/shards', { params: { path: { datastor: 'trips' } } });

console.log(
  JSON.stringify({
    outcomes: [
      stored?.outcome,
      again.data?.outcome,
      codeOf(refused.error),
      ...(batch.data?.results ?? []).map(outcomeOf),
    ],
    latest: latest.data?.ref_key,
    versions: [versions.data?.cells.map(({ ref_key }) => ref_key), versions.data?.next],
    found,
    log: log.data?.cells.filter((cell) => cell.row_key === rowKey).map(({ ref_key }) => ref_key),
    trigger: trigger.data?.state,
    wrong: [wrong.response.status, codeOf(wrong.error)],
  }),
);

function outcomeOf({ outcome }: { readonly outcome?: string }): string | undefined {
  return outcome;
}

/** The gateway's own refusals have no code. */
function codeOf(error: { readonly code?: string } | { readonly message: string } | undefined): string | undefined {
  return error !== undefined && 'code' in error ? error.code : undefined;
}
