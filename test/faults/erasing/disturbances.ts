import { setTimeout as sleep } from 'node:timers/promises';
import { movesClient } from '../../../shared/client/moves-client.ts';
import { putAll } from '../../../shared/client/put-all.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { toText } from '../../../shared/sql/cell-rows.ts';
import { onEachGroup, rowsOf } from '../../support/past-the-store.ts';
import { sumOf, type RunWorld } from '../fault-run.ts';
import type { ForgettingStack } from './forgetting-stack.ts';
import { FORGOTTEN, INDEX, rowOf, TRIGGER, type Written } from './marked-cells.ts';
import type { Rewind } from './trigger-offsets.ts';

/** What went on while rows were erased and subjects forgotten. */
export interface Disturbed {
  /** Cells of the load that are stored: nobody erases them. */
  readonly kept: readonly NewCell[];
  readonly moves: number;
  readonly rewinds: readonly Rewind[];
  readonly kills: number;
  readonly repairs: number;
  /** Entries that these repairs brought back, or took away; those in the background do so, too. */
  readonly mended: number;
}

const WRITERS = 3;
const PAUSE_MS = 50;
const REPEAT_MS = 20;
const REWIND_MS = 15_000;
const REPAIR_MS = 2000;
const KILL_MS = 8000;
const MOST_KILLS = 2;
const DELETED_ENTRIES = 20;

/**
 * A load, repeated writes of what is erased, kills of writers, moves, repairs and rewinds, until the signal.
 *
 * @param heads of the logs, by shard, before all this
 */
export async function disturb(
  world: RunWorld,
  stack: ForgettingStack,
  written: Written,
  heads: ReadonlyMap<number, number>,
  signal: AbortSignal,
): Promise<Disturbed> {
  const counts = { moves: 0, kills: 0, repairs: 0, mended: 0 };
  const rewinds: Rewind[] = [];
  const kept: NewCell[] = [];
  await deleteEntries(stack);
  const goingOn = [
    ...Array.from({ length: WRITERS }, () => load(stack, kept, signal)),
    repeat(stack, written, signal),
    moveAround(stack, signal, () => (counts.moves += 1)),
    again(signal, REWIND_MS, async () => {
      rewinds.push(await rewind(stack, heads, rewinds.length % 2));
    }),
    again(signal, KILL_MS, async () => {
      if (counts.kills >= MOST_KILLS) return;
      counts.kills += 1;
      world.say(`kill -9 of the writer of group ${counts.kills}`);
      await stack.killWriter(counts.kills - 1);
    }),
    again(signal, REPAIR_MS, async () => {
      const { problems: mended } = await stack.verify(INDEX, '--repair');
      counts.repairs += 1;
      counts.mended += mended;
    }),
  ];
  await Promise.all(goingOn);
  return { ...counts, rewinds, kept };
}

/** To the start of the logs, or to a part of them: what goes back further than there, no rewind has done. */
async function rewind(stack: ForgettingStack, heads: ReadonlyMap<number, number>, part: number): Promise<Rewind> {
  const to = new Map([...heads].map(([shard, head]) => [shard, Math.floor((part * head) / 2)]));
  const asked = performance.now();
  // One that is refused may have set some shards.
  await stack
    .client()
    .rewindTrigger(TRIGGER, part === 0 ? 'start' : { shards: to })
    .catch(() => undefined);
  return { asked, answered: performance.now(), to };
}

/** What is refused meanwhile is for the next time. */
async function again(signal: AbortSignal, pauseMs: number, act: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await act().catch(() => undefined);
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

async function load(stack: ForgettingStack, kept: NewCell[], signal: AbortSignal): Promise<void> {
  await again(signal, PAUSE_MS, async () => {
    const cells = Array.from({ length: 5 }, () => rowOf('kept')).flat();
    const { undone } = await putAll(stack.client(), cells, { tries: 30 });
    const failed = new Set(undone.map(({ position }) => position));
    kept.push(...cells.filter((_, position) => !failed.has(position)));
  });
}

/** As clients do that have not heard yet. What is erased, or of who is forgotten, is refused. */
async function repeat(stack: ForgettingStack, { erased, visits }: Written, signal: AbortSignal): Promise<void> {
  const cells = [...erased, ...visits];
  let at = 0;
  await again(signal, REPEAT_MS, async () => {
    const some = cells.slice(at, at + 20);
    at = at + 20 >= cells.length ? 0 : at + 20;
    await stack.client().batchPut(some);
  });
}

/** Moves one shard after the other to another group. */
async function moveAround(stack: ForgettingStack, signal: AbortSignal, moved: () => void): Promise<void> {
  const moves = movesClient(stack.options);
  const { groups, shards } = await moves.shardSizes();
  for (let turn = 0; !signal.aborted; turn = (turn + 1) % shards.length) {
    const shard = shards[turn]?.shard ?? 0;
    const others = groups.filter((group) => group !== shards[turn]?.group);
    try {
      await moves.createMove(shard, others[turn % others.length] ?? '', { switch: true, complete_after_seconds: 1 });
    } catch (error) {
      if (!(error instanceof SchemalessError)) throw error;
    }
    // A move that was begun is seen to its end, so that its copy is gone.
    for (;;) {
      const step = (await moves.move(shard).catch(() => undefined))?.step;
      if (step === 'completed' || step === 'cancelled') break;
      if (signal.aborted && step === undefined) break;
      await sleep(200);
    }
    moved();
  }
}

/** Some entries of each index table, past the store: a repair has to bring them back. */
export async function deleteEntries(stack: ForgettingStack): Promise<void> {
  const deleted = await onEachGroup(stack.stack.groups, async (client) => {
    const tables = await rowsOf(
      client,
      `SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema LIKE '${FORGOTTEN}\\_%' AND table_name LIKE '${INDEX}%'`,
    );
    let count = 0;
    for (const [schema, name] of tables) {
      const { affectedRows } = await client.change({
        sql: `DELETE FROM \`${toText(schema ?? null)}\`.\`${toText(name ?? null)}\` WHERE tombstone_at IS NULL LIMIT ${DELETED_ENTRIES}`,
        parameters: [],
      });
      count += affectedRows;
    }
    return count;
  });
  if (sumOf(deleted) === 0) throw new Error('no entry was deleted');
}
