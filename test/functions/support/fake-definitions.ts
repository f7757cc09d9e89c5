import { SchemalessError } from '../../../shared/errors.ts';
import type { DefinitionManagement } from '../../../shared/migrate/definition-management.ts';

/** Makes and deletes anything, and keeps in `asked` what that was. */
export function fakeDefinitions(asked: unknown[][] = []): DefinitionManagement {
  const known = (name: string): void => {
    if (name === 'nope') throw new SchemalessError('unknown_datastore', `no datastore ${name}`);
  };
  return {
    async apply(wished, dryRun) {
      asked.push(['apply', wished, dryRun]);
      const changes = wished.datastores.map(({ name, shards }) => ({
        kind: 'datastore' as const,
        datastore: name,
        name,
        change: 'create' as const,
        shards,
      }));
      return { done: !dryRun, dry_run: dryRun, changes };
    },
    async deleteIndex(datastore, name, options) {
      known(datastore);
      asked.push(['delete index', datastore, name, options]);
      return { datastore, name, dry_run: options.dry_run === true, lost: null };
    },
    async deleteTrigger(datastore, name, options) {
      known(datastore);
      asked.push(['delete trigger', datastore, name, options]);
      return { datastore, name, dry_run: options.dry_run === true, lost: { messages: 2, parked: 0 } };
    },
  };
}
