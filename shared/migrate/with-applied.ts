import { forgetApplied, type AppliedDatastore } from '../topology/applied-definitions.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { WishedDatastore } from './migration-wish.ts';

/**
 * What a deployment wishes, with what was applied besides: nobody has wished that gone. Of two of one name the
 * deployment's holds.
 *
 * @param applied of datastores that are there
 */
export function withApplied(
  wished: readonly WishedDatastore[],
  applied: readonly AppliedDatastore[],
): readonly WishedDatastore[] {
  const names = new Set(wished.map(({ name }) => name));
  const alone = applied.flatMap(({ name, shards, indexes, triggers }) =>
    shards === undefined || names.has(name) ? [] : [{ name, shards, indexes, triggers }],
  );
  const both = wished.map((datastore): WishedDatastore => {
    const more = applied.find(({ name }) => name === datastore.name);
    if (!more) return datastore;
    const { indexes, triggers } = datastore;
    return {
      ...datastore,
      indexes: [...indexes, ...more.indexes.filter(({ name }) => !indexes.some((index) => index.name === name))],
      ...(triggers && {
        triggers: [
          ...triggers,
          ...more.triggers.filter(({ definition: { name } }) => !triggers.some((one) => one.definition.name === name)),
        ],
      }),
    };
  });
  return [...both, ...alone];
}

/** Forgets of what was applied that which a deployment defines by now: from then on it goes by that. */
export async function forgetDeployed(
  table: DynamoTable,
  wished: readonly WishedDatastore[],
  applied: readonly AppliedDatastore[],
): Promise<void> {
  for (const { name: datastore, indexes, triggers = [] } of wished) {
    const before = applied.find(({ name }) => name === datastore);
    if (!before) continue;
    const names = [
      ...indexes.map(({ name }) => ({ kind: 'index' as const, name })),
      ...triggers.map(({ definition: { name } }) => ({ kind: 'trigger' as const, name })),
    ];
    for (const { kind, name } of names) await forgetApplied(table, { kind, datastore, name });
    await forgetApplied(table, { kind: 'datastore', datastore, name: datastore });
  }
}
