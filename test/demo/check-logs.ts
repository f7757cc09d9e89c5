import { isDeepStrictEqual } from 'node:util';
import type { Cell, Role } from '../../shared/cell.ts';
import { tail } from '../../shared/client/tail.ts';
import { addressText } from './differences.ts';
import { askedText } from './read-back.ts';
import type { Checking } from './recheck.ts';
import type { Acknowledged } from './write.ts';

/**
 * Reads the logs of all shards from their starts. Checks that added ids have no holes, that times never go back, and
 * that each written cell is there once. Ends once no cell came for too long. Returns how many written cells it found.
 */
export async function checkLogs(
  written: Acknowledged,
  read: Role,
  { store, differences, patienceMs, signal }: Checking,
): Promise<number> {
  const wanted = new Map([...written.keys()].map((cell) => [addressText(cell), cell]));
  const found = new Set<string>();
  const heads = new Map((await store.heads()).map((head) => [head.shard, head.error === undefined ? head.head : 0]));
  const last = new Map<number, Cell>();

  const take = (cell: Cell): void => {
    const { shard, added_id, created_at } = cell;
    const before = last.get(shard);
    const next = (before?.added_id ?? 0) + 1;
    if (added_id !== next)
      differences.fail(`shard ${shard}`, `after ${next - 1} in its log wanted ${next}, got ${added_id} (${read})`);
    if (before && created_at < before.created_at)
      differences.fail(cell, `created_at ${created_at} after ${before.created_at}`);
    last.set(shard, cell);
    const address = addressText(cell);
    const own = wanted.get(address);
    if (own === undefined) return;
    if (found.has(address)) return differences.fail(cell, `twice in the log of shard ${shard}`);
    found.add(address);
    if (cell.error !== undefined) return differences.fail(cell, cell.error.message);
    if (!isDeepStrictEqual(cell.body, own.body))
      return differences.fail(cell, `another body in the log of shard ${shard}`);
    differences.passed += 1;
  };

  const still = new AbortController();
  const timer = setTimeout(() => still.abort(), patienceMs);
  const left = new Set([...heads].flatMap(([shard, head]) => (head > 0 ? [shard] : [])));
  const logs = tail(store, {
    shards: [...left],
    from: 'start',
    read,
    limit: 1000,
    signal: AbortSignal.any([signal, still.signal]),
  });
  for await (const { cell } of logs) {
    timer.refresh();
    take(cell);
    if (cell.added_id >= (heads.get(cell.shard) ?? 0)) left.delete(cell.shard);
    if (left.size === 0) break;
  }
  clearTimeout(timer);
  signal.throwIfAborted();
  for (const shard of left) {
    const [at, head] = [last.get(shard)?.added_id ?? 0, heads.get(shard)];
    differences.fail(`shard ${shard}`, `its log ends at ${at}, wanted its head ${head} (${read})`);
  }
  for (const [address, cell] of wanted)
    if (!found.has(address)) differences.fail(cell, `not in the log ${askedText(read, written, cell)}`);
  return found.size;
}
