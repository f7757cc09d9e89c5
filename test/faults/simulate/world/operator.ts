import { equalJson } from '../../../../shared/body/equal.ts';
import type { BufferConflict } from '../../../../shared/api/buffer.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import { bufferedRows, type Judge } from '../judge.ts';
import { addressKey } from './chronicle.ts';
import type { World } from './world.ts';

/** How often an operator checks for writes in doubt. */
const POLL_EVERY_MS = 2000;
const MOST_POLLS = 5;

/**
 * Decides like an operator who asks the applications, and so knows which writes in doubt were acknowledged; of others
 * any will do.
 */
export async function keepDeciding(world: World, judge: Judge, end: { readonly isNear: boolean }): Promise<void> {
  const { time } = world;
  const instance = world.start('reading');
  /** Consecutive polls that lacked the acknowledged body, by address. */
  const lacking = new Map<string, number>();
  while (!end.isNear) {
    await time.sleep(POLL_EVERY_MS);
    // An alarm reports it.
    if (bufferedRows(world.groups).every(({ state }) => state !== 'in_doubt')) continue;
    try {
      const store = await instance.datastore();
      const { in_doubt } = await store.listWritesInDoubt();
      const kept = [...Map.groupBy(in_doubt, addressKey).values()].flatMap(
        (ofAddress) => chosen(world, judge, ofAddress, lacking) ?? [],
      );
      if (kept.length > 0) await store.keepWritesInDoubt({ ids: kept.map(({ id }) => id) });
    } catch (error) {
      if (!(error instanceof SchemalessError)) throw error;
    }
  }
}

type InDoubt = readonly BufferConflict[];

function chosen(
  { chronicle, random }: World,
  judge: Judge,
  writes: InDoubt,
  lacking: Map<string, number>,
): BufferConflict | undefined {
  const [first] = writes;
  if (!first) return undefined;
  const address = addressKey(first);
  const acknowledged = chronicle.acknowledged(address) ?? chronicle.seen.get(address);
  if (!acknowledged) return writes[random.integer(0, writes.length - 1)];
  const write = writes.find(({ body }) => equalJson(body, acknowledged.body));
  // The copies of one group are marked before those of another: it is polled again.
  const polls = write ? 0 : (lacking.get(address) ?? 0) + 1;
  lacking.set(address, polls);
  if (polls > MOST_POLLS)
    judge.breaks(
      `${first.row_key.slice(0, 8)}/${first.column_name}/${first.ref_key} is in doubt, and its acknowledged, or read, body is not among its bodies`,
    );
  return write;
}
