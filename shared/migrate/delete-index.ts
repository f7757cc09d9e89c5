import type { DeletedPart, DeleteOptions } from '../api/definitions.ts';
import { SchemalessError } from '../errors.ts';
import { forgetApplied, readAppliedDatastore } from '../topology/applied-definitions.ts';
import { changeIndexVersions } from '../topology/index-catalogue.ts';
import { readIndexNow } from '../topology/index-now.ts';
import type { DefinitionParts } from './definition-parts.ts';
import { checkConfirmed, stillDefined } from './deletion-refusals.ts';
import { wishedVersions } from './index-versions.ts';

/**
 * Deletes an index for good: nobody keeps or asks it any more from when they know, and the repair drops its tables and
 * what is kept of it some minutes later. It holds nothing that the cells do not say. Throws SchemalessError
 * `unknown_index`, `still_defined`.
 */
export async function deleteIndex(
  { topologyTable, deployed }: Pick<DefinitionParts, 'topologyTable' | 'deployed'>,
  datastore: string,
  name: string,
  options: DeleteOptions,
): Promise<DeletedPart> {
  checkConfirmed(name, options);
  const defined = deployed.datastores.find((one) => one.name === datastore);
  if (defined?.indexes.some((index) => index.name === name))
    throw stillDefined('index', name, `${datastore}/indexes/${name}.yaml`);
  const { versions } = await readIndexNow(topologyTable, { datastore, name });
  const applied = await readAppliedDatastore(topologyTable, datastore);
  // One that was applied and never made is in no catalogue.
  if (versions.length === 0 && !applied?.indexes.some((index) => index.name === name)) {
    const [wanted, got] = ['the name of an index', JSON.stringify(name.slice(0, 60))];
    const message = `no index ${got} of ${datastore}`;
    throw new SchemalessError('unknown_index', message, { field: 'index', wanted, got });
  }
  if (options.dry_run) return { datastore, name, dry_run: true, lost: null };
  await forgetApplied(topologyTable, { kind: 'index', datastore, name });
  await changeIndexVersions(topologyTable, { datastore, name }, (now) => wishedVersions(now, undefined, 'live'));
  return { datastore, name, dry_run: false, lost: null };
}
