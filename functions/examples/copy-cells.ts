import { schemalessClient, type SchemalessClient } from '../../shared/client/client.ts';
import { requestSigner } from '../../shared/client/sign-request.ts';
import { readVariables, text } from '../environment/variables.ts';
import { PermanentFailure, triggerHandler } from '../triggers/trigger-handler.ts';

// Read as the function is loaded: what misses is told before a cell waits for it.
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
 * Copies every cell to the same address of another deployment, in order within each shard: `COPY_TO_URL` is its HTTP
 * API, `COPY_TO_DATASTORE` the datastore there, by default the one that the cell comes from; where `COPY_TO_REGION`
 * names the region of AWS that it is in, requests are signed. Copying a cell twice changes nothing; a cell that the
 * other deployment has with another body is parked at once. What is erased here stays there until it is erased there.
 */
export const handler = triggerHandler('copy_cells', async (rowKey, message, schemaless) => {
  const { column_name, ref_key, datastore, erasure } = message;
  // The other deployment is asked for erasures by those who may ask for them.
  if (erasure !== undefined) return;
  const address = { row_key: rowKey, column_name, ref_key };
  const { cell } = await schemaless.get(address);
  if (cell === null) throw new Error(`The cell ${rowKey}/${column_name}/${ref_key} cannot be read yet`);
  // An erased cell has no body to copy.
  if (cell.erased === true) return;
  opened ??= openCopy(datastore);
  const { outcome } = await opened.put({ ...address, body: cell.body });
  if (outcome === 'conflict')
    throw new PermanentFailure(`The copy has another body at ${rowKey}/${column_name}/${ref_key}`);
  if (outcome === 'unavailable') throw new Error(`The copy did not confirm ${rowKey}/${column_name}/${ref_key}`);
});

function openCopy(datastore: string): SchemalessClient {
  return schemalessClient({
    url,
    datastore: name === '' ? datastore : name,
    ...(region === '' ? {} : { sign: requestSigner(region) }),
  });
}
