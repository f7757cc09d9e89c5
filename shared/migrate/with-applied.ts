import { hash } from 'node:crypto';
import { markSealed } from '../definitions/definitions.ts';
import { forgetApplied, supersedeApplied, type AppliedDatastore } from '../topology/defined.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { WishedDatastore } from './check-wish.ts';

/**
 * What a deployment wishes, with what was applied besides: nobody has wished that gone. Of two of one name the
 * deployment's holds.
 *
 * What was applied to a datastore that no deployment defines any more waits with it: it is wished again with the datastore.
 */
export function withApplied(
  wished: readonly WishedDatastore[],
  applied: readonly AppliedDatastore[],
): readonly WishedDatastore[] {
  const names = new Set(wished.map(({ name }) => name));
  const alone = applied.flatMap(({ name, shards, sealed, indexes, triggers, retention }) =>
    shards === undefined || names.has(name)
      ? []
      : [{ name, shards, indexes, triggers, ...(sealed && { sealed }), ...(retention && { retention }) }],
  );
  const both = wished.map((datastore): WishedDatastore => {
    const more = applied.find(({ name }) => name === datastore.name);
    if (!more) return datastore;
    const { indexes, triggers, sealed } = datastore;
    const further = more.indexes.filter(({ name }) => !indexes.some((index) => index.name === name));
    return {
      ...datastore,
      indexes: [...indexes, ...further.map((index) => markSealed(index, sealed))],
      triggers: [
        ...triggers,
        ...more.triggers.filter(({ definition: { name } }) => !triggers.some((one) => one.definition.name === name)),
      ],
    };
  });
  return [...both, ...alone];
}

/**
 * Forgets of what was applied that which deployments define: not with the first one, which may be rolled back to one
 * that knows nothing of it, but with the next whose wish is another. Until then it is only noted which one it was.
 */
export async function forgetDeployed(
  table: DynamoTable,
  wished: readonly WishedDatastore[],
  applied: readonly AppliedDatastore[],
): Promise<void> {
  const wish = hash('sha256', JSON.stringify(wished), 'hex');
  for (const { name: datastore, records } of applied) {
    const now = wished.find(({ name }) => name === datastore);
    for (const record of records) {
      const { kind, name, superseded_by: before } = record;
      const isDefined =
        now !== undefined &&
        (kind === 'datastore' ||
          (kind === 'index'
            ? now.indexes.some((index) => index.name === name)
            : now.triggers.some(({ definition }) => definition.name === name)));
      if (!isDefined && before !== undefined) await supersedeApplied(table, record, null);
      if (!isDefined || before === wish) continue;
      if (before === undefined) await supersedeApplied(table, record, wish);
      else await forgetApplied(table, record);
    }
  }
}
