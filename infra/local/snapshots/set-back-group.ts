import { invalidField } from '../../../shared/errors.ts';
import { MARK_SET_BACK } from '../../../shared/sql/statements/record-writer.ts';
import type { ShardGroups } from '../mysql/shard-groups.ts';
import type { Snapshot } from './snapshot.ts';

/** The fewest groups of which writes are copied to another. */
const LEAST_WITH_COPIES = 3;

/**
 * Gives a group the state that it had at a moment, while the rest of the stack goes on: its writes are buffered
 * meanwhile. It takes none itself before the drain has brought back whatever the other groups kept copies of.
 *
 * @throws SchemalessError `invalid_field` for a group that the snapshot lacks; Error where it cannot be done
 */
export async function setBackGroup(groups: ShardGroups, group: string, { groups: positions }: Snapshot): Promise<void> {
  const position = positions[group];
  if (position === undefined) throw invalidField('group', `one of ${Object.keys(positions).join(', ')}`, group);
  // With fewer nothing is copied, so that nobody would open again what is marked.
  await groups.setBack(group, position, groups.groups.length < LEAST_WITH_COPIES ? undefined : MARK_SET_BACK);
}
