import { setTimeout as sleep } from 'node:timers/promises';
import type { CellAddress, NewCell, PutResult } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import type { Random } from '../../support/random.ts';
import type { History } from '../load/history.ts';
import { markOf } from '../load/mark.ts';

/** What was answered for one cell, and when. */
export interface Answer extends CellAddress {
  readonly mark: number;
  readonly shard: number;
  readonly outcome: PutResult['outcome'];
  /** 0 where none was answered. */
  readonly added_id: number;
  /** Milliseconds since 1970, by the machine's clock, which the servers read too; cut, not rounded. */
  readonly begun: number;
  readonly ended: number;
}

/** Asks once for one cell or a batch; the answers come in the order of the cells. */
export type Asker = (cells: readonly NewCell[]) => Promise<readonly Answer[]>;

/** The truth is known: whoever is told anything else asks again. */
export function isTold({ outcome }: Answer): boolean {
  return outcome === 'stored' || outcome === 'stored_before' || outcome === 'conflict';
}

/**
 * Writes cells with a put, or with a batch-put where they are several, and notes it in the history.
 *
 * @param name of whoever asks; each call is a process of its own in the history, since calls overlap
 * @param onAnswer is told of every answer, before the caller
 */
export function asker(datastore: Pick<Datastore, 'put' | 'batchPut'>, name: string, history: History, onAnswer: (cell: NewCell, result: PutResult) => void): Asker {
  let calls = 0;
  return async (cells) => {
    const [first] = cells;
    if (!first) return [];
    const process = `${name}/${(calls += 1)}`;
    const f = cells.length > 1 ? 'batch-put' : 'put';
    history.note({ process, type: 'invoke', f, value: cells.map((cell) => ({ ...cell })) });
    const begun = Date.now();
    const results = cells.length > 1 ? await datastore.batchPut(cells) : [await datastore.put(first)];
    const ended = Date.now();
    history.note({ process, type: results.some(({ outcome }) => outcome === 'unavailable') ? 'info' : 'ok', f, value: results.map((result) => ({ ...result })) });
    return cells.map((cell, place) => {
      const result = results[place] as PutResult;
      onAnswer(cell, result);
      const { row_key, column_name, ref_key } = cell;
      return { row_key, column_name, ref_key, mark: markOf(cell), shard: result.shard, outcome: result.outcome, added_id: ('added_id' in result && result.added_id) || 0, begun, ended };
    });
  };
}

export interface Patience {
  /** Between two tries, at random, in milliseconds. */
  readonly leastMs: number;
  readonly mostMs: number;
  /** Then it is given up. */
  readonly wholeMs: number;
}

/** Asks again for those of the cells of which the truth is not known, until it is. Returns all further answers. */
export async function askUntilTold(ask: Asker, cells: readonly NewCell[], first: readonly Answer[], random: Random, { leastMs, mostMs, wholeMs }: Patience): Promise<readonly Answer[]> {
  const further: Answer[] = [];
  const end = performance.now() + wholeMs;
  let open = cells.filter((_, place) => !first[place] || !isTold(first[place]));
  while (open.length > 0 && performance.now() < end) {
    await sleep(random.between(leastMs, mostMs));
    const answers = await ask(open);
    further.push(...answers);
    open = open.filter((_, place) => !isTold(answers[place] as Answer));
  }
  return further;
}
