import type { DefinitionOperations, DeletedPart, DeleteOptions } from '../contract/definition-operations.ts';
import { DATASTORE_NAME, INDEX_NAME, TRIGGER_NAME } from '../definitions/definitions.ts';
import { invalidField } from '../errors.ts';
import { answerTo, type Call, type Connection } from './calls.ts';
import { connect } from './connection.ts';
import type { ClientOptions } from './options.ts';

/**
 * Makes datastores, indexes and triggers, and deletes indexes and triggers, over HTTP, where the environment allows it: for
 * operators.
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
  ): Promise<DeletedPart> => {
    const query = { confirm, force: saidIn(force), dry_run: saidIn(dry_run) };
    // Any other name would ask for another path.
    checkName(DATASTORE_NAME, 'datastore', datastore);
    return answerTo(over(datastore), { method: 'DELETE', path, query });
  };
  return {
    apply: (files, { dry_run } = {}) =>
      answerTo(over('definitions'), {
        method: 'POST',
        path: ['apply'],
        query: { dry_run: saidIn(dry_run) },
        body: { files },
      }),
    async deleteIndex(datastore, index, how) {
      checkName(INDEX_NAME, 'index', index);
      return remove(datastore, ['indexes', index], how);
    },
    async deleteTrigger(datastore, trigger, how) {
      checkName(TRIGGER_NAME, 'trigger', trigger);
      return remove(datastore, ['triggers', trigger], how);
    },
  };
}

function checkName(pattern: RegExp, field: string, name: string): void {
  if (!pattern.test(name)) throw invalidField(field, `the name of one`, name);
}

function saidIn(flag: boolean | undefined): 'true' | undefined {
  return flag === true ? 'true' : undefined;
}
