import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchItem, Datastore } from '../../../shared/contract/datastore.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { addressAlone } from '../row-keys.ts';
import type { CellAddress } from '../../../shared/cell.ts';

export interface LagOptions {
  readonly datastore: Pick<Datastore, 'put' | 'batchGet' | 'heads'>;
  /** How long cells are written. */
  readonly seconds: number;
  readonly seed: string;
  readonly signal: AbortSignal;
}

/** How late readers show what was acknowledged. */
export interface ReaderLags {
  /**
   * Milliseconds from the answer of each put until a reader showed the cell, ascending; of one never shown, until it
   * was given up.
   */
  readonly lags: readonly number[];
  /** Cells that no reader showed in time. */
  readonly never: number;
}

interface Waiting extends CellAddress {
  readonly answeredAt: number;
}

const COLUMN = 'BASE';
/**
 * One put each, whatever became of those before: a reader that stands still is then seen by as many as one that does
 * not.
 */
const PUT_EVERY_MS = 8;
const LOOK_EVERY_MS = 2;
/** Asked of a group at once, the oldest. */
const KEYS = 100;
const PATIENCE_MS = 20_000;

/**
 * Writes cells at a steady pace and looks for each on its group's reader. Cells of one group wait apart from those of
 * the others, so that a reader that stands still hides no other one's lag.
 */
export async function readerLags({ datastore, seconds, seed, signal }: LagOptions): Promise<ReaderLags> {
  const groupOf = (await datastore.heads()).map(({ group }) => group);
  const waiting = new Map([...new Set(groupOf)].map((group): [string, Waiting[]] => [group, []]));
  const lags: number[] = [];
  const state = { writing: true, never: 0 };

  async function put(random: Random): Promise<void> {
    const address = { row_key: randomRowKey(random), column_name: COLUMN, ref_key: 0 };
    const result = await datastore.put({ ...address, body: { watched: true } });
    if (result.outcome === 'stored')
      waiting.get(groupOf[result.shard] ?? '')?.push({ ...address, answeredAt: performance.now() });
  }

  async function look(cells: Waiting[]): Promise<void> {
    while (state.writing || cells.length > 0) {
      signal.throwIfAborted();
      const oldest = cells.slice(0, KEYS);
      const wanted = oldest.map(addressAlone);
      const items = wanted.length === 0 ? [] : await datastore.batchGet(wanted, { read: 'reader' });
      const now = performance.now();
      const left = oldest.filter(({ answeredAt }, position) => {
        const shown = isShownByReader(items[position]);
        if (!shown && now - answeredAt < PATIENCE_MS) return true;
        if (!shown) state.never += 1;
        lags.push(now - answeredAt);
        return false;
      });
      cells.splice(0, oldest.length, ...left);
      await sleep(LOOK_EVERY_MS);
    }
  }

  const looking = Promise.all([...waiting.values()].map(look));
  // Whoever fails first is waited for below.
  looking.catch(() => undefined);
  const puts: Promise<void>[] = [];
  const end = performance.now() + seconds * 1000;
  for (let position = 0; performance.now() < end; position += 1) {
    puts.push(put(new Random(seed, 'watched cells', position)));
    await sleep(PUT_EVERY_MS, undefined, { signal });
  }
  await Promise.all(puts);
  state.writing = false;
  await looking;
  return { lags: lags.toSorted((one, other) => one - other), never: state.never };
}

/** What the writer answered in a reader's place says nothing of the reader. */
function isShownByReader(item: BatchItem | undefined): boolean {
  return item !== null && item !== undefined && 'served_by' in item && item.served_by === 'reader';
}

/** The value that `share` of all are not above; of none, as long as can be. */
export function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.ceil(ascending.length * share) - 1)] ?? Number.POSITIVE_INFINITY;
}
