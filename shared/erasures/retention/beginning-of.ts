import type { StoreContext } from '../../access/context.ts';
import { homeOf, requireDatastore } from '../../access/groups.ts';
import { shardDatabase } from '../../address.ts';
import { selectPlaced, selectPlacedInBuffer, toPlaced } from '../statements/select-placed.ts';
import type { ShardAt } from './erase-hidden.ts';
import type { OpenPart } from './retention-place.ts';

/** Parts whose erasure has a place, or comes to one, and those that nobody knows of. */
interface Beginning {
  readonly begun: readonly OpenPart[];
  readonly notBegun: readonly OpenPart[];
}

/**
 * Tells parts apart that were written down: those whose erasure is in the log, or in a buffer of any group, from where it
 * comes to the log whatever is thought of it by now.
 *
 * Of those that are not in the log nothing is told while a group does not answer: neither list has them.
 */
export async function beginningOf(
  context: StoreContext,
  { datastore, shard }: Pick<ShardAt, 'datastore' | 'shard'>,
  parts: readonly OpenPart[],
): Promise<Beginning> {
  if (parts.length === 0) return { begun: [], notBegun: [] };
  const { group } = homeOf(await requireDatastore(context.topology, datastore), shard);
  const database = shardDatabase(datastore, shard);
  const targets = parts.map(({ target }) => target);
  const primary = await context.groups.client(group);
  const inLog = async (): Promise<readonly number[]> =>
    toPlaced(await primary.select(selectPlaced(database, targets), 'writer'));
  const placed = new Set(await inLog());
  let isKnown = true;
  if (placed.size < parts.length) {
    const inBuffers = (await context.groups.namesNow()).map(async (other) => {
      const client = await context.groups.client(other);
      return toPlaced(await client.select(selectPlacedInBuffer(datastore, targets), 'writer'));
    });
    for (const answer of await Promise.allSettled(inBuffers)) {
      if (answer.status === 'rejected') isKnown = false;
      else for (const position of answer.value) placed.add(position);
    }
    // What was on its way from a buffer is in the log by now.
    for (const position of await inLog()) placed.add(position);
  }
  return {
    begun: parts.filter((_, position) => placed.has(position)),
    notBegun: isKnown ? parts.filter((_, position) => !placed.has(position)) : [],
  };
}
