import { addressKey } from '../address.ts';
import { invalidField } from '../errors.ts';
import { selectInDoubt, toWaitingRow, type WaitingRow } from '../sql/statements/select-buffered.ts';
import { giveWay } from '../sql/statements/copies-in-doubt.ts';
import type { StoreContext } from '../access/context.ts';
import type { KeptId } from './kept-writes.ts';
import { onWriter } from '../access/ask-parts.ts';

/**
 * Chooses some writes in doubt: all others at their addresses give way on all groups, so that recovery finds one body
 * there. The others end as conflicts. Returns how many were in doubt. Throws SchemalessError `invalid_field` for two
 * bodies of one address; `unavailable` if a group cannot be told: the address stays in doubt, or is decided for the
 * chosen body.
 */
export async function chooseInDoubt(
  { groups }: Pick<StoreContext, 'groups'>,
  datastore: string,
  ids: readonly KeptId[],
): Promise<number> {
  const chosen: WaitingRow[] = [];
  for (const [group, ofGroup] of Map.groupBy(ids, (id) => id.group)) {
    const statement = selectInDoubt(
      datastore,
      ofGroup.map(({ id }) => id),
    );
    const rows = await onWriter(groups, group, (client) => client.select(statement, 'writer'));
    chosen.push(...rows.map(toWaitingRow));
  }
  for (const ofAddress of Map.groupBy(chosen, addressKey).values()) {
    const bodies = new Set(ofAddress.map(({ body_hash }) => Buffer.from(body_hash).toString('hex')));
    const [{ row_key, column_name, ref_key } = { row_key: '', column_name: '', ref_key: 0 }] = ofAddress;
    if (bodies.size > 1)
      throw invalidField('ids', 'one body of an address', `${bodies.size} of ${row_key}/${column_name}/${ref_key}`);
  }
  await Promise.all(
    (await groups.names()).map((group) =>
      onWriter(groups, group, async (client) => {
        for (const row of chosen) await client.change(giveWay(row));
      }),
    ),
  );
  return chosen.length;
}
