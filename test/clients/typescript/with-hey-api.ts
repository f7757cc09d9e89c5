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
import { client } from './hey-api/client.gen';
import * as api from './hey-api';

client.setConfig({ baseUrl: process.argv[2] ?? '' });
const path = column;

await makeCalls({
  getHealth: () => answered(api.getHealth()),
  putCell: () => answered(api.putCell({ path: cell, body })),
  putAgain: () => answered(api.putCell({ path: cell, body })),
  putAnother: () => answered(api.putCell({ path: cell, body: ['another'] })),
  putNull: () => answered(api.putCell({ path: { ...cell, column_name: 'NOTE' }, body: null })),
  batchPut: () => answered(api.batchPut({ path, body: { cells } })),
  getCell: () => answered(api.getCell({ path: cell, query: { read: 'writer' } })),
  getLatestCell: () => answered(api.getLatestCell({ path })),
  listVersions: () => answered(api.listVersions({ path, query: { order: 'asc', limit: 2 } })),
  getRow: () => answered(api.getRow({ path, query: { column: ['BASE', 'NONE'] } })),
  batchGet: () => answered(api.batchGet({ path, body: { keys } })),
  batchRead: () => answered(api.batchRead({ path, body: { targets: reads } })),
  listShards: () => answered(api.listShards({ path })),
  readShardLog: ({ shard, added_id }) =>
    answered(api.readShardLog({ path: { ...path, shard }, query: { after: added_id - 1 } })),
  readLog: ({ shard, added_id }) =>
    answered(api.readLog({ path, body: { locations: [{ shard, after: added_id - 1 }] } })),
  digestLog: ({ shard, added_id }) => answered(api.digestLog({ path: { ...path, shard }, query: { at: added_id } })),
  batchQuery: () => answered(api.batchQuery({ path, body: { targets: queries } })),
  getTrigger: () => answered(api.getTrigger({ path: trigger })),
  eraseCells: () => answered(api.eraseCells({ path, body: erasure })),
  getErased: () => answered(api.getCell({ path: cell })),
  getInvalid: () => answered(api.getRow({ path: { ...path, row_key: `no ${row_key}` } })),
});
