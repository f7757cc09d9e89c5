import { schemalessClient, type SchemalessClient } from '../../shared/client/client.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { requestSigner } from '../../shared/client/sign-request.ts';
import { readVariables, text } from '../environment/variables.ts';
import { PermanentFailure, triggerHandler } from '../triggers/trigger-handler.ts';

// Read when the function loads: a missing variable fails before a cell waits for it.
const { url, region, name } = readVariables({
  url: {
    name: 'COPY_TO_URL',
    wanted: 'an http or https URL',
    parse: (value) => (/^https?:\/\//u.test(value) && URL.canParse(value) ? value : undefined),
  },
  region: { ...text('COPY_TO_REGION', 'a region of AWS'), fallback: '' },
  name: { ...text('COPY_TO_DATASTORE', 'the name of a datastore'), fallback: '' },
});

let opened: SchemalessClient | undefined;

/**
 * Copies every cell to the same address of another deployment, in order within each shard. `COPY_TO_URL` is its HTTP
 * API, `COPY_TO_DATASTORE` its datastore (default: the cell's own). `COPY_TO_REGION`, its AWS region, signs requests.
 * Copying a cell twice changes nothing. A cell is parked at once if the other deployment has another body there.
 * Erasures are not copied: erase the cell in the other deployment as well.
 */
export const handler = triggerHandler('copy_cells', async (rowKey, message, schemaless) => {
  const { column_name, ref_key, datastore, erasure } = message;
  // Only callers with that right request erasures from the other deployment.
  if (erasure !== undefined) return;
  const address = { row_key: rowKey, column_name, ref_key };
  const { cell } = await schemaless.get(address);
  if (cell === null) throw new Error(`The cell ${rowKey}/${column_name}/${ref_key} cannot be read yet`);
  // An erased cell has no body.
  if (cell.erased === true) return;
  opened ??= openCopy(datastore);
  try {
    await opened.put({ ...address, body: cell.body });
  } catch (error) {
    if (!(error instanceof SchemalessError)) throw error;
    // It was erased, or its subject forgotten, in the other deployment.
    if (error.code === 'erased' || error.code === 'subject_forgotten') return;
    if (error.code !== 'conflict') throw error;
    throw new PermanentFailure(`The copy has another cell: ${error.message}`, { cause: error });
  }
});

function openCopy(datastore: string): SchemalessClient {
  return schemalessClient({
    url,
    datastore: name === '' ? datastore : name,
    ...(region === '' ? {} : { sign: requestSigner(region) }),
  });
}
