import {
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
  type Answered,
} from './calls.ts';
import * as api from './orval/store';

const { datastore, column_name } = column;
const putCell = (name: string, json: api.CellBody) => api.putCell(datastore, row_key, name, cell.ref_key, json);

async function answered<Some extends { readonly status: number; readonly data: unknown }>(
  asked: Promise<Some>,
): Promise<Answered<Extract<Some, { readonly status: 200 | 201 | 202 }>['data']>> {
  const { status, data } = await asked;
  return status < 300 ? { status, data, error: undefined } : { status, data: undefined, error: Object(data) };
}

await makeCalls({
  getHealth: () => answered(api.getHealth()),
  putCell: () => answered(putCell(column_name, body)),
  putAgain: () => answered(putCell(column_name, body)),
  putAnother: () => answered(putCell(column_name, ['another'])),
  putNull: () => answered(putCell('NOTE', null)),
  batchPut: () => answered(api.batchPut(datastore, { cells })),
  getCell: () => answered(api.getCell(datastore, row_key, column_name, 1, { read: 'writer' })),
  getLatestCell: () => answered(api.getLatestCell(datastore, row_key, column_name)),
  listVersions: () => answered(api.listVersions(datastore, row_key, column_name, { order: 'asc', limit: 2 })),
  getRow: () => answered(api.getRow(datastore, row_key, { column: ['BASE', 'NONE'] })),
  batchGet: () => answered(api.batchGet(datastore, { keys })),
  batchRead: () => answered(api.batchRead(datastore, { targets: reads })),
  listShards: () => answered(api.listShards(datastore)),
  readShardLog: ({ shard, added_id }) => answered(api.readShardLog(datastore, shard, { after: added_id - 1 })),
  readLog: ({ shard, added_id }) => answered(api.readLog(datastore, { locations: [{ shard, after: added_id - 1 }] })),
  digestLog: ({ shard, added_id }) => answered(api.digestLog(datastore, shard, { at: added_id })),
  batchQuery: () => answered(api.batchQuery(datastore, { targets: queries })),
  getTrigger: () => answered(api.getTrigger(datastore, trigger.trigger)),
  eraseCells: () => answered(api.eraseCells(datastore, erasure)),
  getErased: () => answered(api.getCell(datastore, row_key, column_name, 1)),
  getInvalid: () => answered(api.getRow(datastore, `no ${row_key}`)),
});
