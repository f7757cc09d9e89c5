import createClient from 'openapi-fetch';
import {
  answered,
  body,
  cell,
  cells,
  column,
  erasure,
  keys,
  makeCalls,
  queries,
  reads,
  row_key,
  trigger,
} from './calls.ts';
import type { paths } from './schema.d.ts';

const api = createClient<paths>({ baseUrl: process.argv[2] ?? '' });
const CELL = '/v1/{datastore}/cells/{row_key}/{column_name}/{ref_key}';
const params = { path: column };

// @ts-expect-error a parameter that the description does not have
void (() => api.GET('/v1/{datastore}/shards', { params: { path: { datastor: 'trips' } } }));

await makeCalls({
  getHealth: () => answered(api.GET('/v1/health')),
  putCell: () => answered(api.PUT(CELL, { params: { path: cell }, body })),
  putAgain: () => answered(api.PUT(CELL, { params: { path: cell }, body })),
  putAnother: () => answered(api.PUT(CELL, { params: { path: cell }, body: ['another'] })),
  putNull: () => answered(api.PUT(CELL, { params: { path: { ...cell, column_name: 'NOTE' } }, body: null })),
  batchPut: () => answered(api.POST('/v1/{datastore}/batch-put', { params, body: { cells } })),
  getCell: () => answered(api.GET(CELL, { params: { path: cell, query: { read: 'writer' } } })),
  getLatestCell: () => answered(api.GET('/v1/{datastore}/cells/{row_key}/{column_name}', { params })),
  listVersions: () =>
    answered(
      api.GET('/v1/{datastore}/cells/{row_key}/{column_name}/versions', {
        params: { path: column, query: { order: 'asc', limit: 2 } },
      }),
    ),
  getRow: () =>
    answered(
      api.GET('/v1/{datastore}/rows/{row_key}', { params: { path: column, query: { column: ['BASE', 'NONE'] } } }),
    ),
  batchGet: () => answered(api.POST('/v1/{datastore}/batch-get', { params, body: { keys } })),
  batchRead: () => answered(api.POST('/v1/{datastore}/batch-read', { params, body: { targets: reads } })),

  listShards: () => answered(api.GET('/v1/{datastore}/shards', { params: { path: column } })),
  readShardLog: ({ shard, added_id }) =>
    answered(
      api.GET('/v1/{datastore}/shards/{shard}/cells', {
        params: { path: { ...column, shard }, query: { after: added_id - 1 } },
      }),
    ),
  readLog: ({ shard, added_id }) =>
    answered(api.POST('/v1/{datastore}/log', { params, body: { locations: [{ shard, after: added_id - 1 }] } })),
  digestLog: ({ shard, added_id }) =>
    answered(
      api.GET('/v1/{datastore}/shards/{shard}/digest', {
        params: { path: { ...column, shard }, query: { at: added_id } },
      }),
    ),
  batchQuery: () => answered(api.POST('/v1/{datastore}/batch-query', { params, body: { targets: queries } })),
  getTrigger: () => answered(api.GET('/v1/{datastore}/triggers/{trigger}', { params: { path: trigger } })),
  eraseCells: () => answered(api.POST('/v1/{datastore}/erasures', { params, body: erasure })),
  getErased: () => answered(api.GET(CELL, { params: { path: cell } })),
  getInvalid: () =>
    answered(api.GET('/v1/{datastore}/rows/{row_key}', { params: { path: { ...column, row_key: `no ${row_key}` } } })),
});
