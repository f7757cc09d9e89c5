import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { stringifyJson } from '../../shared/body/json.ts';
import type { Json } from '../../shared/cell.ts';
import { readVariables, text } from '../environment/variables.ts';
import { triggerHandler } from '../triggers/trigger-handler.ts';

// Read when the function loads: a missing variable fails before a cell waits for it.
const { folder } = readVariables({ folder: text('WAREHOUSE_FOLDER', 'the path of a folder') });

/**
 * Appends every cell as a line of JSON to `WAREHOUSE_FOLDER/<day>.ndjson`, for a warehouse to load. The loader removes
 * duplicates by shard and added id, since a cell may come twice. An erasure is a separate line without a body: the
 * loader deletes the erased cells.
 */
export const handler = triggerHandler('feed_warehouse', async (rowKey, message, schemaless) => {
  const { column_name, ref_key, shard, added_id, created_at, erasure } = message;
  const place = { shard, added_id, created_at, row_key: rowKey, column_name, ref_key };
  const line = stringifyJson(erasure === undefined ? { ...place, body: await read() } : { ...place, erasure });
  await mkdir(folder, { recursive: true });
  // One append for each line, so that lines of several processes do not mix.
  await appendFile(join(folder, `${created_at.slice(0, 10)}.ndjson`), `${line}\n`);

  async function read(): Promise<Json> {
    const { cell } = await schemaless.get({ row_key: rowKey, column_name, ref_key });
    if (cell === null) throw new Error(`The cell ${rowKey}/${column_name}/${ref_key} cannot be read yet`);
    return cell.body;
  }
});
