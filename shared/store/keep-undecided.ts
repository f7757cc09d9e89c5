import { addressKey } from '../address.ts';
import { invalidField } from '../errors.ts';
import { selectUndecided, toWaitingRow, type WaitingRow } from '../sql/statements/select-buffered.ts';
import { giveWay } from '../sql/statements/undecided-copies.ts';
import type { StoreContext } from '../access/context.ts';
import type { KeptId } from './kept-writes.ts';
import { toUnavailable } from '../access/ask-parts.ts';

/**
 * Decides for some of the undecided writes: whatever else is undecided at their addresses gives way to them on all
 * groups, so that whoever brings back what the primary lacks finds one body there. What gave way ends as a kept
 * conflict once it is there.
 *
 * @returns how many of them were undecided
 * @throws SchemalessError `invalid_field` for two bodies of one address; `unavailable` where a group cannot be told:
 *   the address stays undecided, or is decided for the body that was chosen
 */
export async function keepUndecided(
  { groups }: Pick<StoreContext, 'groups'>,
  datastore: string,
  ids: readonly KeptId[],
): Promise<number> {
  const chosen: WaitingRow[] = [];
  for (const [group, ofGroup] of Map.groupBy(ids, (id) => id.group)) {
    const client = await groups.client(group);
    const rows = await client
      .select(
        selectUndecided(
          datastore,
          ofGroup.map(({ id }) => id),
        ),
        'writer',
      )
      .catch((error: unknown) => {
        throw toUnavailable(error, group);
      });
    chosen.push(...rows.map(toWaitingRow));
  }
  for (const ofAddress of Map.groupBy(chosen, addressKey).values()) {
    const bodies = new Set(ofAddress.map(({ body_hash }) => Buffer.from(body_hash).toString('hex')));
    const [{ row_key, column_name, ref_key } = { row_key: '', column_name: '', ref_key: 0 }] = ofAddress;
    if (bodies.size > 1)
      throw invalidField('ids', 'one body of an address', `${bodies.size} of ${row_key}/${column_name}/${ref_key}`);
  }
  await Promise.all(
    (await groups.names()).map(async (group) => {
      const client = await groups.client(group);
      try {
        for (const row of chosen) await client.change(giveWay(row));
      } catch (error) {
        throw toUnavailable(error, group);
      }
    }),
  );
  return chosen.length;
}
