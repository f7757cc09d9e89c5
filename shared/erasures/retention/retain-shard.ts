import { homeOf, requireDatastore } from '../../access/groups.ts';
import type { RetentionRule } from '../../definitions/definitions.ts';
import { ERASABLE_NAME_BYTES, isErasureName } from '../../erasure-name.ts';
import { pauseFor } from '../../pause-for.ts';
import { toText } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { retentionOf } from '../../sql/hidden-cells.ts';
import type { ErasureWork, Patience } from '../carry-out.ts';
import { heldRows } from '../holds.ts';
import { selectColumnsOfRow, type ColumnOfRow } from '../statements/select-column-state.ts';
import { selectWritten, toWritten, type WrittenCell } from '../statements/select-written.ts';
import { chooseHidden } from './choose-hidden.ts';
import {
  COLUMNS_AT_ONCE,
  erasePart,
  readColumnStates,
  VERSIONS_AT_ONCE,
  type PartDone,
  type ShardAt,
} from './erase-hidden.ts';
import { type OpenPart, type Reached, type RetentionPlace } from './retention-place.ts';

/** How often it is looked, and how hard. */
export interface RetentionSettings {
  /** Between looks at what was written since, for columns that have much to erase. @default a minute */
  readonly roundMs?: number;
  /** Between looks for all that there is to erase: so long a body may stay beyond its retention. @default a day */
  readonly wholeMs?: number;
  /** Pause after work, as a part of how long it took. @default 1: half of the time */
  readonly rest?: number;
}

export const ROUND_MS = 60_000;
export const WHOLE_MS = 86_400_000;

/** One turn at one shard. */
export interface ShardTurn {
  readonly work: ErasureWork;
  readonly at: ShardAt;
  readonly settings: RetentionSettings;
  /** Rows of it that are not held any more. */
  readonly released: readonly string[];
  readonly mayGoOn: () => boolean;
  readonly signal: AbortSignal;
  /** Throws where another works on it by now. */
  readonly write: (place: RetentionPlace) => Promise<void>;
  readonly done: (part: PartDone) => void;
}

/** Cells of a page of the log. */
const PAGE_CELLS = 1000;
/** Erasures that are begun together, and those of them that are worked on side by side. */
const PARTS_AT_ONCE = 16;
const SIDE_BY_SIDE = 4;
/** So many that wait for something, and no more are begun in the shard. */
export const MOST_OPEN_PARTS = 100;
const LOOKS_MS = [0, 20, 100, 400];

/** How many bodies of a column are worth an erasure as soon as they are hidden; fewer go with the next look for all. */
export function leastHidden(keepVersions: number): number {
  return Math.max(10, Math.ceil(keepVersions / 2));
}

/** Between looks for what has grown old: cells are erased a tenth of their time after it at the latest, or a day. */
export function agedEveryMs(keepForMs: number, { roundMs = ROUND_MS, wholeMs = WHOLE_MS }: RetentionSettings): number {
  return Math.min(wholeMs, Math.max(roundMs, keepForMs / 10));
}

/** The times of all rules that have one. */
export function keepTimes(rules: readonly RetentionRule[]): readonly number[] {
  return [...new Set(rules.flatMap(({ keepForMs }) => keepForMs ?? []))];
}

/**
 * Looks in one shard for what is out of its retention, and erases it.
 *
 * New cells put out others of their column: what was written since the last look is looked at, each column once. Columns
 * that have little to erase wait for a look at all that was written in a day, so that few erasures are made of many. What
 * grows old stands at the old end of the log, where a place of its own goes forward. What is begun is written down before.
 *
 * @returns whether the turn was too short for all
 */
export async function retainShard(turn: ShardTurn, place: RetentionPlace): Promise<boolean> {
  const retaining = new Retaining(turn, place);
  await retaining.run();
  return retaining.isCut;
}

class Retaining {
  readonly #turn: ShardTurn;
  readonly #rules: readonly RetentionRule[];
  #place: RetentionPlace;
  isCut = false;

  constructor(turn: ShardTurn, place: RetentionPlace) {
    this.#turn = turn;
    this.#rules = turn.at.rules ?? [];
    this.#place = place;
  }

  async run(): Promise<void> {
    const { settings, released } = this.#turn;
    const { wholeMs = WHOLE_MS } = settings;
    await this.#finish(this.#place.open);
    for (const row_key of released) await this.#lookAtRow(row_key);
    for (const keepForMs of keepTimes(this.#rules))
      if (Date.now() - this.#agedAt(keepForMs).at >= agedEveryMs(keepForMs, settings))
        await this.#lookForAged(keepForMs);
    if (!this.#rules.some(({ keepVersions }) => keepVersions !== undefined)) return;
    if (Date.now() - this.#place.all.at >= wholeMs) await this.#lookForAll();
    else await this.#lookOften();
  }

  #agedAt(keepForMs: number): Reached {
    return this.#place.aged[keepForMs] ?? { added_id: 0, at: 0 };
  }

  #lookForAged(keepForMs: number): Promise<void> {
    const isOfRule = (column: string): boolean => retentionOf(this.#rules, column)?.keepForMs === keepForMs;
    return this.#look({
      from: this.#agedAt(keepForMs).added_id,
      keepForMs,
      isWanted: ({ column_name, hasBody }) => hasBody && isOfRule(column_name),
      leastOf: () => 1,
      reached: (added_id, isEnd) => {
        const { at } = this.#agedAt(keepForMs);
        const aged = { ...this.#place.aged, [keepForMs]: { added_id, at: isEnd ? Date.now() : at } };
        return { ...this.#place, aged };
      },
    });
  }

  #lookForAll(): Promise<void> {
    return this.#look({
      from: this.#place.all.added_id,
      isWanted: ({ column_name }) => this.#keepVersionsOf(column_name) !== undefined,
      leastOf: () => 1,
      reached: (added_id, isEnd) => {
        const all = { added_id, at: isEnd ? Date.now() : this.#place.all.at };
        return { ...this.#place, all, often: Math.max(this.#place.often, added_id) };
      },
    });
  }

  #lookOften(): Promise<void> {
    return this.#look({
      from: this.#place.often,
      isWanted: ({ column_name }) => this.#keepVersionsOf(column_name) !== undefined,
      leastOf: (column) => leastHidden(this.#keepVersionsOf(column) ?? 1),
      reached: (often) => ({ ...this.#place, often }),
    });
  }

  #keepVersionsOf(column: string): number | undefined {
    return retentionOf(this.#rules, column)?.keepVersions;
  }

  /** Reads the log from a place on, and erases in the columns that it names. */
  async #look({ from, keepForMs, isWanted, leastOf, reached }: Look): Promise<void> {
    const { at, mayGoOn } = this.#turn;
    const seen = new Set<string>();
    for (let after = from; ;) {
      const rows = await this.#select(selectWritten(at.datastore, at.shard, after, PAGE_CELLS, keepForMs));
      const cells = toWritten(rows, after);
      const wanted = cells.filter((cell) => canBeErased(cell.column_name) && isWanted(cell));
      // What is old is told by its own cell; what is put out by newer ones, once for all.
      const columns = columnsOf(wanted, keepForMs !== undefined, seen);
      if (!(await this.#eraseIn(columns, leastOf))) return;
      after = cells.at(-1)?.added_id ?? after;
      const isEnd = cells.length < PAGE_CELLS;
      await this.#write(reached(after, isEnd));
      if (isEnd) return;
      if (!mayGoOn()) return void (this.isCut = true);
    }
  }

  async #lookAtRow(row_key: string): Promise<void> {
    const { at } = this.#turn;
    const rows = await this.#select(selectColumnsOfRow(at.datastore, at.shard, row_key));
    const columns = rows
      .map(([name]) => toText(name))
      .filter((name) => canBeErased(name) && retentionOf(this.#rules, name))
      .map((column_name) => ({ row_key, column_name, aged: [] }));
    await this.#eraseIn(columns, () => 1);
  }

  /** Returns false where not all of it was begun. */
  async #eraseIn(columns: readonly SeenColumn[], leastOf: (column: string) => number): Promise<boolean> {
    const { work, at } = this.#turn;
    let left = columns;
    while (left.length > 0) {
      const again: SeenColumn[] = [];
      for (let from = 0; from < left.length; from += COLUMNS_AT_ONCE) {
        const some = left.slice(from, from + COLUMNS_AT_ONCE);
        const states = await readColumnStates(work.context, at, some);
        const chosen = some.flatMap((column, position) => {
          const state = states[position];
          const parts = state ? chooseHidden(column, state, leastOf(column.column_name), column.aged) : [];
          return parts.length > 0 ? [{ column, parts, isMore: state?.versions.length === VERSIONS_AT_ONCE }] : [];
        });
        if (chosen.length === 0) continue;
        const held = await heldRows(work.stateTable, at.datastore, new Set(chosen.map(({ column }) => column.row_key)));
        const free = chosen.filter(({ column }) => !held.has(column.row_key));
        const parts = free.flatMap((one) => one.parts.map(({ target }) => ({ target, waits_for: null })));
        const waiting = await this.#erase(parts);
        if (!waiting) return false;
        again.push(...free.filter(({ isMore }) => isMore && waiting.length === 0).map(({ column }) => column));
      }
      left = again;
    }
    return true;
  }

  /** Returns those that wait for something; undefined where not all were begun. */
  async #erase(parts: readonly OpenPart[]): Promise<readonly OpenPart[] | undefined> {
    const { settings, signal, mayGoOn } = this.#turn;
    const waiting: OpenPart[] = [];
    for (let from = 0; from < parts.length; from += PARTS_AT_ONCE) {
      const some = parts.slice(from, from + PARTS_AT_ONCE);
      if (!mayGoOn()) this.isCut = true;
      if (this.isCut || this.#place.open.length + some.length > MOST_OPEN_PARTS) return undefined;
      const begun = performance.now();
      await this.#write({ ...this.#place, open: [...this.#place.open, ...some] });
      waiting.push(...(await this.#finish(some)));
      await pauseFor((performance.now() - begun) * (settings.rest ?? 1), signal);
    }
    return waiting;
  }

  /** Does what can be done of parts that are written down as begun. Returns those that wait for something. */
  async #finish(parts: readonly OpenPart[]): Promise<readonly OpenPart[]> {
    const { work, at, mayGoOn, done } = this.#turn;
    if (parts.length === 0) return [];
    const patience: Patience = { mayGoOn, looksMs: LOOKS_MS };
    const waiting: OpenPart[] = [];
    const left = [...parts];
    const finishSome = async (): Promise<void> => {
      for (let part = left.shift(); part; part = left.shift()) {
        const one = await erasePart(work, at, part, patience);
        done(one);
        if (one.waits_for !== null) waiting.push({ target: part.target, waits_for: one.waits_for });
      }
    };
    await Promise.all(Array.from({ length: Math.min(SIDE_BY_SIDE, parts.length) }, finishSome));
    const others = this.#place.open.filter((one) => !parts.includes(one));
    await this.#write({ ...this.#place, open: [...others, ...waiting] });
    return waiting;
  }

  async #write(place: RetentionPlace): Promise<void> {
    if (JSON.stringify(place) !== JSON.stringify(this.#place)) await this.#turn.write(place);
    this.#place = place;
  }

  /** Of the writer: readers may be behind. */
  async #select(statement: Statement): Promise<readonly SqlRow[]> {
    const { work, at } = this.#turn;
    const { topology, groups } = work.context;
    const { group } = homeOf(await requireDatastore(topology, at.datastore), at.shard);
    return (await groups.client(group)).select(statement, 'writer');
  }
}

interface Look {
  readonly from: number;
  /** Of what is older alone. @default all */
  readonly keepForMs?: number;
  readonly isWanted: (cell: WrittenCell) => boolean;
  /** How many bodies of a column are worth an erasure. */
  readonly leastOf: (column: string) => number;
  readonly reached: (added_id: number, isEnd: boolean) => RetentionPlace;
}

interface SeenColumn extends ColumnOfRow {
  /** Ref keys of cells of it that are known to be too old. */
  readonly aged: readonly number[];
}

/** The columns of cells; those that were seen before only where the cells themselves are meant. */
function columnsOf(cells: readonly WrittenCell[], areMeant: boolean, seen: Set<string>): readonly SeenColumn[] {
  const columns = new Map<string, { row_key: string; column_name: string; aged: number[] }>();
  for (const { row_key, column_name, ref_key } of cells) {
    const key = `${row_key}/${column_name}`;
    if (!areMeant && seen.has(key)) continue;
    const column = columns.get(key) ?? { row_key, column_name, aged: [] };
    if (areMeant) column.aged.push(ref_key);
    columns.set(key, column);
  }
  if (seen.size > MOST_SEEN) seen.clear();
  for (const key of columns.keys()) seen.add(key);
  return [...columns.values()];
}

/** They are kept in memory. */
const MOST_SEEN = 100_000;

/** The name of an erasure is a byte longer than its column's. */
function canBeErased(column: string): boolean {
  return !isErasureName(column) && Buffer.byteLength(column) <= ERASABLE_NAME_BYTES;
}
