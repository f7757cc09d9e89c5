import { homeOf, requireDatastore } from '../../access/groups.ts';
import type { RetentionRule } from '../../definitions/definitions.ts';
import { ERASABLE_NAME_BYTES, isErasureName } from '../../address.ts';
import { pauseFor } from '../../pause-for.ts';
import { toText } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { retentionOf } from '../../sql/hidden-cells.ts';
import type { ErasureWork, Patience } from '../carry-out.ts';
import { heldRows } from '../holds.ts';
import { selectHeads, toHeads } from '../../sql/statements/select-heads.ts';
import { selectColumnsOfRow, type ColumnFrom, type ColumnState } from '../statements/select-column-state.ts';
import { selectWritten, toWritten, type WrittenCell } from '../statements/select-written.ts';
import { chooseHidden } from './choose-hidden.ts';
import { beginningOf } from './beginning-of.ts';
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
  /** The rules, or the log, may be others than those by which its place was written: all is looked at again. */
  readonly isAnew: boolean;
  /** What of one of them is out of its retention was looked for, while nobody held it. */
  readonly looked: (row_key: string) => Promise<void>;
  /** Whether the rules are those of the turn still, past every cache: what is erased is gone for good. */
  readonly isAsRuled: () => Promise<boolean>;
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
/** The same, of a quarter of the 400 KB of an item; what a part waits for is counted as it may be. */
const MOST_OPEN_BYTES = 96_000;
const REASON_BYTES = 450;
const LOOKS_MS = [0, 20, 100, 400];

/** How many bodies of a column are worth an erasure as soon as they are hidden; fewer go with the next look for all. */
export function leastHidden(keepVersions: number): number {
  return Math.min(VERSIONS_AT_ONCE, Math.max(10, Math.ceil(keepVersions / 2)));
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
  #mostOpen = MOST_OPEN_PARTS;
  isCut = false;

  constructor(turn: ShardTurn, place: RetentionPlace) {
    this.#turn = turn;
    this.#rules = turn.at.rules ?? [];
    this.#place = place;
  }

  async run(): Promise<void> {
    const { settings, released } = this.#turn;
    const { wholeMs = WHOLE_MS } = settings;
    if (!(await this.#goOn())) return;
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
    const seen = new Map<string, number>();
    for (let after = from; ;) {
      const rows = await this.#select(selectWritten(at.datastore, at.shard, after, PAGE_CELLS, keepForMs));
      const cells = toWritten(rows, after);
      const wanted = cells.filter((cell) => canBeErased(cell.column_name) && isWanted(cell));
      // What is old is told by its own cell; what is put out by newer ones, once for all that there is now.
      const head = wanted.length === 0 || keepForMs !== undefined ? undefined : await this.#head();
      const columns = columnsOf(wanted, head, seen);
      if (!(await this.#eraseIn(columns, leastOf))) return;
      after = cells.at(-1)?.added_id ?? after;
      const isEnd = cells.length < PAGE_CELLS;
      await this.#write(reached(after, isEnd));
      if (isEnd) return;
      if (!mayGoOn()) return void (this.isCut = true);
    }
  }

  /** How far the log goes. */
  async #head(): Promise<number> {
    const { datastore, shard } = this.#turn.at;
    return toHeads(await this.#select(selectHeads(datastore, [shard]))).get(shard) ?? 0;
  }

  async #lookAtRow(row_key: string): Promise<void> {
    const { work, at, looked } = this.#turn;
    // Whoever releases it says so first: while it is held it is not looked at, and not forgotten.
    if ((await heldRows(work.stateTable, at.datastore, new Set([row_key]))).size > 0) return;
    const rows = await this.#select(selectColumnsOfRow(at.datastore, at.shard, row_key));
    const columns = rows
      .map(([name]) => toText(name))
      .filter((name) => canBeErased(name) && retentionOf(this.#rules, name))
      .map((column_name) => ({ row_key, column_name, aged: [], isWhole: true }));
    if (await this.#eraseIn(columns, () => 1)) await looked(row_key);
  }

  /**
   * Goes on with what was begun. What has no place yet, in the log or in a buffer, is judged anew: it may be kept, or held,
   * by now.
   *
   * @returns false where nobody knows of some of it, and the rules may be others by now: it waits for a group
   */
  async #goOn(): Promise<boolean> {
    const { work, at, isAnew } = this.#turn;
    const { begun, notBegun } = await beginningOf(work.context, at, this.#place.open);
    if (isAnew && begun.length + notBegun.length < this.#place.open.length) return false;
    // The look finds them again.
    if (isAnew) await this.#drop(notBegun);
    await this.#finish(begun);
    if (isAnew) return true;
    // What comes in place of some is written down before those are forgotten.
    this.#mostOpen = MOST_OPEN_PARTS + PARTS_AT_ONCE;
    for (let from = 0; from < notBegun.length; from += PARTS_AT_ONCE) {
      const some = notBegun.slice(from, from + PARTS_AT_ONCE);
      const columns = some.map(({ target: { row_key, column_name = '', ref_key } }) => ({
        row_key,
        column_name,
        aged: ref_key === undefined ? [] : [ref_key],
      }));
      if (!(await this.#eraseIn(columns, () => 1))) break;
      await this.#drop(some);
    }
    this.#mostOpen = MOST_OPEN_PARTS;
    return true;
  }

  #drop(parts: readonly OpenPart[]): Promise<void> {
    return this.#write({ ...this.#place, open: this.#place.open.filter((part) => !parts.includes(part)) });
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
        const parts: OpenPart[] = [];
        for (const [position, column] of some.entries()) {
          const state = states[position];
          if (!state) continue;
          const least = column.isBegun === true ? 1 : leastOf(column.column_name);
          const targets = chooseHidden(column, state, least, column.aged);
          parts.push(...targets.map((target) => ({ target, waits_for: null })));
          const isBegun = column.isBegun === true || targets.length > 0;
          if (hasMore(column, state)) again.push({ ...column, after: state.versions.at(-1)?.ref_key, isBegun });
        }
        if (!(await this.#erase(parts))) return false;
      }
      left = again;
    }
    return true;
  }

  /** Returns false where not all were begun. What is held by now is passed over. */
  async #erase(parts: readonly OpenPart[]): Promise<boolean> {
    const { work, at, settings, signal, mayGoOn, isAsRuled } = this.#turn;
    for (let from = 0; from < parts.length; from += PARTS_AT_ONCE) {
      const some = parts.slice(from, from + PARTS_AT_ONCE);
      if (!mayGoOn()) this.isCut = true;
      if (this.isCut || !this.#hasRoomFor(some)) return false;
      const begun = performance.now();
      const before = this.#place.open;
      await this.#write({ ...this.#place, open: [...before, ...some] });
      // Last of all: who holds a row, or loosens a rule, need not wait for a turn to end.
      const rows = new Set(some.map(({ target }) => target.row_key));
      const [isAsRuledNow, held] = await Promise.all([isAsRuled(), heldRows(work.stateTable, at.datastore, rows)]);
      const free = isAsRuledNow ? some.filter(({ target }) => !held.has(target.row_key)) : [];
      if (free.length < some.length) await this.#write({ ...this.#place, open: [...before, ...free] });
      this.isCut ||= !isAsRuledNow;
      if (this.isCut) return false;
      await this.#finish(free);
      await pauseFor((performance.now() - begun) * (settings.rest ?? 1), signal);
    }
    return true;
  }

  /** Whether so many may be open: with those of other shards they are in one item. */
  #hasRoomFor(parts: readonly OpenPart[]): boolean {
    const all = [...this.#place.open, ...parts];
    if (all.length > this.#mostOpen) return false;
    const bytes = all.reduce((sum, { target }) => sum + Buffer.byteLength(JSON.stringify(target)) + REASON_BYTES, 0);
    return bytes <= MOST_OPEN_BYTES;
  }

  /** Does what can be done of parts that are written down as begun. */
  async #finish(parts: readonly OpenPart[]): Promise<void> {
    const { work, at, mayGoOn, done } = this.#turn;
    if (parts.length === 0) return;
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

interface SeenColumn extends ColumnFrom {
  /** Ref keys of cells of it that are known to be too old. */
  readonly aged: readonly number[];
  /** All of its versions are looked at. @default those that others put out, and `aged` */
  readonly isWhole?: boolean;
  /** There was enough to erase before these versions. @default not yet */
  readonly isBegun?: boolean;
}

/** Whether versions behind those of a state may be out of their retention, which nobody else tells of. */
function hasMore({ aged, isWhole = false }: SeenColumn, { versions }: ColumnState): boolean {
  if (versions.length < VERSIONS_AT_ONCE) return false;
  return isWhole || (aged.length === 0 && versions.at(-1)?.isPutOut === true);
}

/**
 * The columns of cells.
 *
 * @param head how far the log goes: cells up to there are seen with their column. Undefined where they are meant themselves
 * @param seen columns, and up to where
 */
function columnsOf(
  cells: readonly WrittenCell[],
  head: number | undefined,
  seen: Map<string, number>,
): readonly SeenColumn[] {
  const columns = new Map<string, { row_key: string; column_name: string; aged: number[] }>();
  for (const { added_id, row_key, column_name, ref_key } of cells) {
    const key = `${row_key}/${column_name}`;
    if (head !== undefined && added_id <= (seen.get(key) ?? 0)) continue;
    const column = columns.get(key) ?? { row_key, column_name, aged: [] };
    if (head === undefined) column.aged.push(ref_key);
    columns.set(key, column);
  }
  if (head === undefined) return [...columns.values()];
  if (seen.size > MOST_SEEN) seen.clear();
  for (const key of columns.keys()) seen.set(key, head);
  return [...columns.values()];
}

/** They are kept in memory. */
const MOST_SEEN = 100_000;

/** The name of an erasure is a byte longer than its column's. */
function canBeErased(column: string): boolean {
  return !isErasureName(column) && Buffer.byteLength(column) <= ERASABLE_NAME_BYTES;
}
