import { setImmediate as nextTurn } from 'node:timers/promises';
import { erasedBody } from '../body/codec.ts';
import type { ErasureTarget } from '../address.ts';
import type { SqlClient } from '../sql/client.ts';
import { retryContention } from '../sql/retry-contention.ts';
import { replaceBodies, type ErasedBody } from '../sql/statements/replace-bodies.ts';
import { selectBodies, toBodyToErase, type BodyToErase } from '../sql/statements/select-bodies.ts';

/** An append of the row may hold a lock. */
const TRIES = 3;

const PAGE_CELLS = 100;
const PAGE_BYTES = 1024 * 1024;

export interface ErasedBodies {
  cells: number;
  bytes: number;
}

/**
 * Erases a target's bodies in one database, page by page. Repeatable. Complete if the erasure is in the log before:
 * nothing is appended there any more. `database`: of the shard, or of its copy. `done`: counts what was erased,
 * whatever comes then. `beside`: called with a page while its bodies can be read, and once they are gone; if it throws,
 * the rest stays.
 */
export async function eraseBodies(
  client: SqlClient,
  database: string,
  target: ErasureTarget,
  done: ErasedBodies = { cells: 0, bytes: 0 },
  alongside: (page: readonly BodyToErase[], areGone: boolean) => Promise<void> = async () => undefined,
): Promise<ErasedBodies> {
  const bytesOfPage = Math.min(PAGE_BYTES, client.abilities.bounds.pageBytes);
  let after: BodyToErase | undefined;
  for (;;) {
    const statement = selectBodies(database, target, after, PAGE_CELLS, bytesOfPage);
    const rows = await retryContention(TRIES, () => client.select(statement, 'writer'));
    const page = rows.map(toBodyToErase);
    after = page.at(-1);
    if (!after) return done;
    await alongside(page, false);
    const erased: ErasedBody[] = [];
    let bytes = 0;
    for (const { added_id, body } of page) {
      // Decodes one at a time for its hash: it may be a thousand times its stored size.
      erased.push({ added_id, left: erasedBody(body) });
      bytes += body.length;
      if (body.length > PAGE_BYTES / PAGE_CELLS) await nextTurn();
    }
    const { affectedRows } = await retryContention(TRIES, () => client.change(replaceBodies(database, target, erased)));
    done.cells += affectedRows;
    done.bytes += Math.round((bytes * affectedRows) / page.length);
    await alongside(page, true);
  }
}
