import { setTimeout as sleep } from 'node:timers/promises';
import { rowKeyBytes } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { tryPutAll } from '../../../shared/client/put-all.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlParameter } from '../../../shared/sql/client.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { onEachGroup, onEachShard, rowsOf } from '../../support/past-the-store.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { grouped, sumOf, type RunWorld } from '../fault-run.ts';
import { FORGOTTEN, INDEX, TRIGGER, rowOf, type Written } from './clinic.ts';
import type { WholeStack } from '../whole-stack.ts';
import { REASON, moveAround } from './going-on.ts';

export interface Disturbed {
  readonly kept: readonly NewCell[];
  readonly moves: number;
  readonly rewinds: number;
  readonly kills: number;
  readonly repairs: number;
  /** Entries that these repairs restored or removed; background repairs do so as well. */
  readonly repaired: number;
}

const WRITERS = 3;
const PAUSE_MS = 50;
const REPEAT_MS = 20;
const REPEATED = 20;
const REWIND_MS = 15_000;
const REPAIR_MS = 2000;
const KILL_MS = 8000;
const MOST_KILLS = 2;

/** Runs a load, repeated writes, kills, moves, repairs and rewinds. @param heads of the logs, by shard, before that */
export async function disturb(
  world: RunWorld,
  stack: WholeStack,
  { erased, visits }: Written,
  heads: ReadonlyMap<number, number>,
  signal: AbortSignal,
): Promise<Disturbed> {
  const counts = { kills: 0, repairs: 0, repaired: 0, rewinds: 0 };
  const kept: NewCell[] = [];
  const again = async (pauseMs: number, act: () => Promise<void>): Promise<void> => {
    while (!signal.aborted) {
      // A refused disturbance waits for the next time.
      await act().catch(() => undefined);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const load = async (): Promise<void> => {
    const cells = Array.from({ length: 5 }, () => rowOf('kept')).flat();
    const { undone } = await tryPutAll(stack.client(), cells, { tries: 30 });
    const failed = new Set(undone.map(({ position }) => position));
    kept.push(...cells.filter((_, position) => !failed.has(position)));
  };
  // As from clients that do not know yet. Writes of erased cells, or of forgotten subjects, are refused.
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
    await killWriter(stack, counts.kills - 1);
  };
  const repair = async (): Promise<void> => {
    const { problems: repaired } = await stack.verify(INDEX, '--repair');
    counts.repairs += 1;
    counts.repaired += repaired;
  };
  await deleteEntries(stack.groups);
  const operations = stack.client();
  const shards = await operations.heads();
  const groups = (await operations.getBuffer()).groups.map(({ group }) => group);
  const homeOf = async (wanted: number) => shards.find(({ shard }) => shard === wanted)?.group;
  const [moves] = await Promise.all([
    moveAround({ operations, shards: shards.length, groups, homeOf, signal }),
    ...Array.from({ length: WRITERS }, () => again(PAUSE_MS, load)),
    again(REPEAT_MS, repeat),
    again(REWIND_MS, () => rewind(stack, heads, counts.rewinds++ % 2)),
    again(KILL_MS, kill),
    again(REPAIR_MS, repair),
  ]);
  return { ...counts, moves, kept };
}

/** Kills the writer of the nth group (kill -9); it restarts, or a reader is promoted. */
export async function killWriter(stack: WholeStack, number: number): Promise<void> {
  const writer = (await stack.status()).nodes.filter(({ role }) => role === 'writer')[number];
  if (writer) await stack.send('kill', writer.node);
}

/** Rewinds the trigger to the start of the logs, or to half of them. */
async function rewind(stack: WholeStack, heads: ReadonlyMap<number, number>, part: number): Promise<void> {
  const half = Object.fromEntries([...heads].map(([shard, head]) => [shard, Math.floor(head / 2)]));
  await stack.client().rewindTrigger({ trigger: TRIGGER, to: part === 0 ? 'start' : half });
}

const ERASERS = 16;
const FORGETTERS = 4;
const AGAIN_MS = 200;

/** Erases all rows and forgets all subjects, with several workers in parallel. Returns the answers to the erasures. */
export async function forgetAll(
  { say, signal }: RunWorld,
  stack: WholeStack,
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

/** Deletes some entries of each index table, or those of a row, past the store: a repair must restore them. */
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
