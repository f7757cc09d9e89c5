import { equalJson } from '../../../../shared/body/equal.ts';
import type { BufferConflict } from '../../../../shared/api/buffer.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import { bufferedRows, type Judge } from '../judge.ts';
import { addressKey } from './chronicle.ts';
import type { World } from './world.ts';

/** How often an operator looks whether something is to be decided. */
const LOOK_EVERY_MS = 2000;
const MOST_LOOKS = 5;

/**
 * An operator who asks the applications, and so knows which of the undecided writes were acknowledged; of others any
 * will do.
 */
export async function keepDeciding(world: World, judge: Judge, end: { readonly isNear: boolean }): Promise<void> {
  const { time } = world;
  const instance = world.start('reading');
  /** By address, looks in a row that lacked what was acknowledged. */
  const lacking = new Map<string, number>();
  while (!end.isNear) {
    await time.sleep(LOOK_EVERY_MS);
    // An alarm says so.
    if (bufferedRows(world.groups).every(({ state }) => state !== 'undecided')) continue;
    try {
      const store = await instance.datastore();
      const { undecided } = await store.listUndecidedWrites();
      const kept = [...Map.groupBy(undecided, addressKey).values()].flatMap(
        (ofAddress) => chosen(world, judge, ofAddress, lacking) ?? [],
      );
      if (kept.length > 0) await store.keepUndecidedWrites({ ids: kept.map(({ id }) => id) });
    } catch (error) {
      if (!(error instanceof SchemalessError)) throw error;
    }
  }
}

type Undecided = readonly BufferConflict[];

function chosen(
  { chronicle, random }: World,
  judge: Judge,
  writes: Undecided,
  lacking: Map<string, number>,
): BufferConflict | undefined {
  const [first] = writes;
  if (!first) return undefined;
  const address = addressKey(first);
  const acknowledged = chronicle.acknowledged(address) ?? chronicle.seen.get(address);
  if (!acknowledged) return writes[random.integer(0, writes.length - 1)];
  const write = writes.find(({ body }) => equalJson(body, acknowledged.body));
  // The copies of one group are marked before those of another: it is looked at again.
  const looks = write ? 0 : (lacking.get(address) ?? 0) + 1;
  lacking.set(address, looks);
  if (looks > MOST_LOOKS)
    judge.breaks(
      `${first.row_key.slice(0, 8)}/${first.column_name}/${first.ref_key} is undecided, and what was acknowledged, or read, is not among its bodies`,
    );
  return write;
}
