import { addressKey } from '../../../shared/address.ts';
import type { BufferOperations } from '../../../shared/api/buffer.ts';
import type { Answer } from '../load/ask.ts';
import { markOf } from '../stored-cells.ts';

/**
 * Decides undecided writes as an operator does who asks the applications: keeps the body that one was told is stored,
 * else any. Returns the count of addresses.
 */
export async function keepAcknowledged(
  datastore: Pick<BufferOperations, 'listUndecidedWrites' | 'keepUndecidedWrites'>,
  answers: readonly Answer[],
): Promise<number> {
  const stored = new Set(
    answers.filter(({ outcome }) => outcome === 'stored' || outcome === 'stored_before').map(({ mark }) => mark),
  );
  const { undecided } = await datastore.listUndecidedWrites();
  const ids = [...Map.groupBy(undecided, addressKey).values()].flatMap(
    (writes) => (writes.find((write) => stored.has(markOf(write))) ?? writes[0])?.id ?? [],
  );
  if (ids.length > 0) await datastore.keepUndecidedWrites({ ids });
  return ids.length;
}
