import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell, PutResult } from '../../shared/cell.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';

/** A briefly unavailable primary is back within this, and buffered writes are appended. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 250;

/**
 * Returns a store that retries for a patient client. Repeats a put that is `buffered` or not confirmed until it is on
 * its primary, and counts it as `stored` then. Repeats a read of the writer that a reader answered as stale. The
 * contract allows both while a primary is unavailable, so checks ignore them. Returns all other answers as they came,
 * and these after `patienceMs`.
 *
 * @param patienceMs how long each is repeated @default 30 s
 */
export function patientStore<Store extends Datastore>(store: Store, patienceMs = PATIENCE_MS): Store {
  const pause = Math.min(PAUSE_MS, patienceMs);

  async function settled(cell: NewCell, first: PutResult): Promise<PutResult> {
    let result = first;
    for (const end = performance.now() + patienceMs; isUnsettled(result) && performance.now() < end;) {
      await sleep(pause);
      result = await store.put(cell);
    }
    return result !== first && result.outcome === 'stored_before' ? { ...result, outcome: 'stored' } : result;
  }

  const fresh =
    <Parameters extends readonly unknown[], Answer>(read: (...parameters: Parameters) => Promise<Answer>) =>
    async (...parameters: Parameters): Promise<Answer> => {
      const isOfReader = parameters.some((parameter) => Object(parameter).read === 'reader');
      let answer = await read(...parameters);
      if (isOfReader) return answer;
      for (
        const end = performance.now() + patienceMs;
        isStale(answer) && performance.now() < end;
        answer = await read(...parameters)
      )
        await sleep(pause);
      return answer;
    };

  return {
    ...store,
    put: async (cell: NewCell) => settled(cell, await store.put(cell)),
    async batchPut(cells: readonly NewCell[]) {
      const results = await store.batchPut(cells);
      return Promise.all(results.map((result, position) => settled(cells[position] as NewCell, result)));
    },
    get: fresh(store.get),
    getLatest: fresh(store.getLatest),
    versions: fresh(store.versions),
    row: fresh(store.row),
    batchGet: fresh(store.batchGet),
    log: fresh(store.log),
    query: fresh(store.query),
    count: fresh(store.count),
  };
}

function isUnsettled({ outcome }: PutResult): boolean {
  return outcome === 'buffered' || outcome === 'unavailable';
}

/** Whether a reader gave an answer, or an item of a list, as stale. */
function isStale(answer: unknown): boolean {
  return Array.isArray(answer)
    ? answer.some(isStale)
    : Object(answer).stale === true && Object(answer).served_by === 'reader';
}
