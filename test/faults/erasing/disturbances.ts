import { setTimeout as sleep } from 'node:timers/promises';
import { rowKeyBytes } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { putAll } from '../../../shared/client/put-all.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlParameter } from '../../../shared/sql/client.ts';
import { CONTROL, entityTable } from '../../../shared/sql/names.ts';
import { onEachGroup, onEachShard, rowsOf } from '../../support/past-the-store.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { grouped, sumOf, type RunWorld } from '../fault-run.ts';
import { FORGOTTEN, INDEX, TRIGGER, rowOf, type Written } from './clinic.ts';
import type { ForgettingStack } from './forgetting-stack.ts';
import { REASON, moveAround } from './going-on.ts';
import type { Rewind } from './trigger-offsets.ts';

export interface Disturbed {
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
const REPEATED = 20;
const REWIND_MS = 15_000;
const REPAIR_MS = 2000;
const KILL_MS = 8000;
const MOST_KILLS = 2;
const LOCK_MS = 10_000;
const MOST_LOCKS = 3;
/** Longer in all than a write and its repetition wait, so that servers refuse statements that hold bodies. */
const LOCK = `SELECT SLEEP(3) FROM ${CONTROL}.shard WHERE datastore = ? FOR UPDATE`;

/** A load, repeated writes, kills, locks, moves, repairs and rewinds. @param heads of the logs, by shard, before that */
export async function disturb(
  world: RunWorld,
  stack: ForgettingStack,
  { erased, visits }: Written,
  heads: ReadonlyMap<number, number>,
  signal: AbortSignal,
): Promise<Disturbed> {
  const counts = { kills: 0, repairs: 0, mended: 0 };
  const rewinds: Rewind[] = [];
  const kept: NewCell[] = [];
  const again = async (pauseMs: number, act: () => Promise<void>): Promise<void> => {
    while (!signal.aborted) {
      // What is refused meanwhile is for the next time.
      await act().catch(() => undefined);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const load = async (): Promise<void> => {
    const cells = Array.from({ length: 5 }, () => rowOf('kept')).flat();
    const { undone } = await putAll(stack.client(), cells, { tries: 30 });
    const failed = new Set(undone.map(({ position }) => position));
    kept.push(...cells.filter((_, position) => !failed.has(position)));
  };
  // As clients do that have not heard yet. What is erased, or of a subject that is forgotten, is refused.
  const repeated = [...erased, ...visits];
  let at = 0;
  const repeat = async (): Promise<void> => {
    const some = repeated.slice(at, at + REPEATED);
    at = at + REPEATED >= repeated.length ? 0 : at + REPEATED;
    await stack.client().batchPut(some);
  };
  const kill = async (): Promise<void> => {
    if (counts.kills >= MOST_KILLS) return;
    counts.kills += 1;
    world.say(`kill -9 of the writer of group ${counts.kills}`);
    await stack.killWriter(counts.kills - 1);
  };
  let locks = 0;
  const lock = async (): Promise<void> => {
    locks += 1;
    if (locks <= MOST_LOCKS) await onEachGroup(stack.stack.groups, (client) => rowsOf(client, LOCK, [FORGOTTEN]));
  };
  const repair = async (): Promise<void> => {
    const { problems: mended } = await stack.verify(INDEX, '--repair');
    counts.repairs += 1;
    counts.mended += mended;
  };
  await deleteEntries(stack.stack.groups);
  const operations = stack.client();
  const shards = await operations.heads();
  const groups = (await operations.getBuffer()).groups.map(({ group }) => group);
  const homeOf = async (wanted: number) => shards.find(({ shard }) => shard === wanted)?.group;
  const [moves] = await Promise.all([
    moveAround({ operations, shards: shards.length, groups, homeOf, signal }),
    ...Array.from({ length: WRITERS }, () => again(PAUSE_MS, load)),
    again(REPEAT_MS, repeat),
    again(REWIND_MS, async () => void rewinds.push(await rewind(stack, heads, rewinds.length % 2))),
    again(KILL_MS, kill),
    again(LOCK_MS, lock),
    again(REPAIR_MS, repair),
  ]);
  return { ...counts, moves, rewinds, kept };
}

/** To the start of the logs, or to a part of them: what goes back further than there, no rewind has done. */
async function rewind(stack: ForgettingStack, heads: ReadonlyMap<number, number>, part: number): Promise<Rewind> {
  const to = new Map([...heads].map(([shard, head]) => [shard, Math.floor((part * head) / 2)]));
  const asked = performance.now();
  // One that is refused may have set some shards.
  await stack
    .client()
    .rewindTrigger({ trigger: TRIGGER, to: part === 0 ? 'start' : Object.fromEntries(to) })
    .catch(() => undefined);
  return { asked, answered: performance.now(), to };
}

const ERASERS = 16;
const FORGETTERS = 4;
const AGAIN_MS = 200;

/** Erases all rows, and forgets all subjects, by several workers side by side. Returns what erasures were answered. */
export async function forgetAll(
  { say, signal }: RunWorld,
  stack: ForgettingStack,
  { erased, subjects }: Written,
): Promise<Readonly<Record<'erased' | 'erasing', number>>> {
  const operations = stack.client();
  const answers = { erased: 0, erasing: 0 };
  /** Both may be repeated. */
  const untilAnswered = async <T>(ask: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof SchemalessError) || error.retry === 'never') throw error;
        signal.throwIfAborted();
        await sleep(AGAIN_MS);
      }
    }
  };
  const eachOf = async (left: string[], act: (one: string) => Promise<void>): Promise<void> => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) await act(one);
  };
  const erase = async (row_key: string): Promise<void> => {
    const { state } = await untilAnswered(() => operations.eraseCells({ row_key, reason: REASON }));
    answers[state] += 1;
    const done = answers.erased + answers.erasing;
    if (done % 250 === 0) say(`${grouped(done)} rows are erased`);
  };
  const forget = async (subject: string): Promise<void> => {
    const { had_key } = await untilAnswered(() => operations.forgetSubject({ subject, reason: REASON }));
    if (!had_key) throw new Error('a subject had no key: nothing was sealed for it');
  };
  const [rows, patients] = [[...new Set(erased.map(({ row_key }) => row_key))], [...subjects]];
  await Promise.all([
    ...Array.from({ length: ERASERS }, () => eachOf(rows, erase)),
    ...Array.from({ length: FORGETTERS }, () => eachOf(patients, forget)),
  ]);
  return answers;
}

export async function changeBody(groups: readonly GroupAccess[], cell: NewCell): Promise<void> {
  const body = encodeBody({ kind: 'row', mark: 'another' });
  await changeWhereItIs(groups, cell, (table) => `UPDATE ${table} SET body = ? WHERE`, [body]);
}

export async function takeOut(groups: readonly GroupAccess[], cell: NewCell): Promise<void> {
  await changeWhereItIs(groups, cell, (table) => `DELETE FROM ${table} WHERE`, []);
}

async function changeWhereItIs(
  groups: readonly GroupAccess[],
  { row_key, column_name, ref_key }: NewCell,
  sqlOf: (table: string) => string,
  parameters: readonly SqlParameter[],
): Promise<void> {
  const changes = await onEachShard(
    groups,
    async (client, shard) => {
      const sql = `${sqlOf(entityTable(FORGOTTEN, shard))} row_key = ? AND column_name = ? AND ref_key = ?`;
      const address = [rowKeyBytes(row_key), Buffer.from(column_name), ref_key];
      return (await client.change({ sql, parameters: [...parameters, ...address] })).affectedRows;
    },
    FORGOTTEN,
  );
  if (sumOf(changes) !== 1) throw new Error(`wanted one cell that is changed, got ${sumOf(changes)}`);
}

const SOME = 20;

/** Deletes some entries of each index table, or those of a row, past the store: a repair has to bring them back. */
export async function deleteEntries(groups: readonly GroupAccess[], row_key?: string): Promise<void> {
  const which = row_key === undefined ? `tombstone_at IS NULL LIMIT ${SOME}` : 'row_key = ?';
  const parameters = row_key === undefined ? [] : [rowKeyBytes(row_key)];
  const deleted = await onEachGroup(groups, async (client) => {
    const tables = `SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema LIKE '${FORGOTTEN}\\_%' AND table_name LIKE '${INDEX}%'`;
    let count = 0;
    for (const [schema, name] of await rowsOf(client, tables)) {
      const sql = `DELETE FROM \`${toText(schema ?? null)}\`.\`${toText(name ?? null)}\` WHERE ${which}`;
      count += (await client.change({ sql, parameters })).affectedRows;
    }
    return count;
  });
  if (sumOf(deleted) === 0) throw new Error('no entry was deleted');
}
