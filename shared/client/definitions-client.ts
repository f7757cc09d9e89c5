import type {
  AppliedOutcome,
  DefinitionOperations,
  DeletedDatastore,
  DeletedPart,
  DeleteOptions,
} from '../contract/definition-operations.ts';
import { DATASTORE_NAME, INDEX_NAME, TRIGGER_NAME } from '../definitions/definitions.ts';
import { invalidField } from '../errors.ts';
import type { Call, Connection } from './calls.ts';
import { connect } from './connection.ts';
import type { ClientOptions } from './options.ts';

/**
 * Makes and deletes datastores, indexes and triggers over HTTP, where the environment lets one: what operators may do.
 *
 * ```ts
 * const definitions = definitionsClient({ url: 'http://127.0.0.1:4000' });
 * await definitions.apply({ 'shop/datastore.yaml': { datastore: 'shop', shards: 16 } });
 * ```
 */
export function definitionsClient(options: Omit<ClientOptions, 'datastore'>): DefinitionOperations {
  const over = (datastore: string): Connection => connect({ ...options, datastore });
  const remove = async (
    datastore: string,
    path: Call['path'],
    { confirm, force, dry_run }: DeleteOptions,
  ): Promise<unknown> => {
    const query = {
      confirm,
      force: force === true ? 'true' : undefined,
      dry_run: dry_run === true ? 'true' : undefined,
    };
    // Any other name would ask for another path.
    checkName(DATASTORE_NAME, 'datastore', datastore);
    return (await over(datastore)({ method: 'DELETE', path, query })).json;
  };
  return {
    async apply(files, { dry_run } = {}) {
      const query = { dry_run: dry_run === true ? 'true' : undefined };
      const { json } = await over('definitions')({ method: 'POST', path: ['apply'], query, body: { files } });
      return json as unknown as AppliedOutcome;
    },
    deleteDatastore: async (datastore, how) => (await remove(datastore, [], how)) as DeletedDatastore,
    async deleteIndex(datastore, index, how) {
      checkName(INDEX_NAME, 'index', index);
      return (await remove(datastore, ['indexes', index], how)) as DeletedPart;
    },
    async deleteTrigger(datastore, trigger, how) {
      checkName(TRIGGER_NAME, 'trigger', trigger);
      return (await remove(datastore, ['triggers', trigger], how)) as DeletedPart;
    },
  };
}

function checkName(pattern: RegExp, field: string, name: string): void {
  if (!pattern.test(name)) throw invalidField(field, `the name of one`, name);
}
