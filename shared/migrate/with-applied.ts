import { hash } from 'node:crypto';
import { markSealed } from '../definitions/definitions.ts';
import { forgetApplied, supersedeApplied, type AppliedDatastore } from '../topology/defined.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { DesiredDatastore } from './check-desired-state.ts';

/**
 * Returns a deployment's desired state plus the applied definitions, which no deployment removes. The deployment's
 * definition wins over an applied one of the same name.
 *
 * Definitions applied to a datastore that no deployment defines any more return when one defines it again.
 */
export function withApplied(
  desired: readonly DesiredDatastore[],
  applied: readonly AppliedDatastore[],
): readonly DesiredDatastore[] {
  const names = new Set(desired.map(({ name }) => name));
  const alone = applied.flatMap(({ name, shards, sealed, indexes, triggers, retention }) =>
    shards === undefined || names.has(name)
      ? []
      : [{ name, shards, indexes, triggers, ...(sealed && { sealed }), ...(retention && { retention }) }],
  );
  const both = desired.map((datastore): DesiredDatastore => {
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
 * Forgets applied definitions that deployments define as well. Only records the first such deployment, since it may be
 * rolled back to one without them; the next one with another desired state forgets them.
 */
export async function forgetDeployed(
  table: DynamoTable,
  desired: readonly DesiredDatastore[],
  applied: readonly AppliedDatastore[],
): Promise<void> {
  const desiredHash = hash('sha256', JSON.stringify(desired), 'hex');
  for (const { name: datastore, records } of applied) {
    const now = desired.find(({ name }) => name === datastore);
    for (const record of records) {
      const { kind, name, superseded_by: before } = record;
      const isDefined =
        now !== undefined &&
        (kind === 'datastore' ||
          (kind === 'index'
            ? now.indexes.some((index) => index.name === name)
            : now.triggers.some(({ definition }) => definition.name === name)));
      if (!isDefined && before !== undefined) await supersedeApplied(table, record, null);
      if (!isDefined || before === desiredHash) continue;
      if (before === undefined) await supersedeApplied(table, record, desiredHash);
      else await forgetApplied(table, record);
    }
  }
}
