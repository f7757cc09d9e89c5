import { homeOf, requireDatastore } from '../../access/groups.ts';
import type { RetentionRule } from '../../definitions/definitions.ts';
import { pauseFor } from '../../pause-for.ts';
import { sideBySide } from '../../side-by-side.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { retentionOf } from '../../sql/hidden-cells.ts';
import type { ErasureWork, Patience } from '../erasure-work.ts';
import { selectHeads, toHeads } from '../../sql/statements/select-heads.ts';
import { selectWritten, toWritten, type WrittenCell } from '../statements/select-written.ts';
import { chooseHidden, canBeErased, columnsOf, hasMore, type SeenColumn } from './seen-columns.ts';
import {
  beginningOf,
  COLUMNS_AT_ONCE,
  erasePart,
  readColumnStates,
  VERSIONS_AT_ONCE,
  type PartDone,
  type ShardAt,
} from './erase-hidden.ts';
import {
  agedEveryMs,
  keepTimes,
  WHOLE_MS,
  type RetentionSettings,
  type OpenPart,
  type Reached,
  type RetentionPlace,
} from './retention-place.ts';
import { slicesOf } from '../../slices-of.ts';

export interface ShardTurn {
  readonly work: ErasureWork;
  readonly at: ShardAt;
  readonly settings: RetentionSettings;
  /** The rules, or the log, may be others than those by which its place was written: all is looked at again. */
  readonly isAnew: boolean;
  /** Whether the rules are those of the turn still, past every cache: what is erased is gone for good. */
  readonly isAsRuled: () => Promise<boolean>;
  readonly mayGoOn: () => boolean;
  readonly signal: AbortSignal;
  /** Throws where another works on it by now. */
  readonly write: (place: RetentionPlace) => Promise<void>;
  readonly done: (part: PartDone) => void;
}

const PAGE_CELLS = 1000;
/** Erasures that are begun together. */
const PARTS_AT_ONCE = 16;
/** So many that wait for something, and no more are begun in the shard. */
const MOST_OPEN_PARTS = 100;
/** The same, of a quarter of the 400 KB of an item; what a part waits for is counted as it may be. */
const MOST_OPEN_BYTES = 96_000;
const REASON_BYTES = 450;
const LOOKS_MS = [0, 20, 100, 400];

/** How many bodies of a column are worth an erasure as soon as they are hidden; fewer go with the next look for all. */
export function leastHidden(keepVersions: number): number {
  return Math.min(VERSIONS_AT_ONCE, Math.max(10, Math.ceil(keepVersions / 2)));
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
    const { settings } = this.#turn;
    const { wholeMs = WHOLE_MS } = settings;
    if (!(await this.#goOn())) return;
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

  /**
   * Continues the erasures that were begun. Under the same rules and epoch, what was out of its retention still is.
   * Under others, parts that have no place yet, in the log or in a buffer, are dropped: the look finds them again.
   * Returns false if the turn must end: a group that may have such a place is unavailable, or the rules have changed.
   */
  async #goOn(): Promise<boolean> {
    const { work, at, isAnew, isAsRuled } = this.#turn;
    const { open } = this.#place;
    if (isAnew) {
      const { begun, notBegun } = await beginningOf(work.context, at, open);
      if (begun.length + notBegun.length < open.length) return false;
      await this.#write({ ...this.#place, open: begun });
      await this.#finish(begun);
      return true;
    }
    for (const some of slicesOf(open, PARTS_AT_ONCE)) {
      this.isCut = !(await isAsRuled());
      if (this.isCut) return false;
      await this.#finish(some);
    }
    return true;
  }

  /** Returns false where not all of it was begun. */
  async #eraseIn(columns: readonly SeenColumn[], leastOf: (column: string) => number): Promise<boolean> {
    const { work, at } = this.#turn;
    let left = columns;
    while (left.length > 0) {
      const again: SeenColumn[] = [];
      for (const some of slicesOf(left, COLUMNS_AT_ONCE)) {
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

  /** Returns false where not all were begun. */
  async #erase(parts: readonly OpenPart[]): Promise<boolean> {
    const { settings, signal, mayGoOn, isAsRuled } = this.#turn;
    for (const some of slicesOf(parts, PARTS_AT_ONCE)) {
      if (!mayGoOn()) this.isCut = true;
      if (this.isCut || !this.#hasRoomFor(some)) return false;
      const begun = performance.now();
      const before = this.#place.open;
      await this.#write({ ...this.#place, open: [...before, ...some] });
      // Last of all: a rule that is loosened takes effect before the turn ends.
      if (!(await isAsRuled())) {
        await this.#write({ ...this.#place, open: before });
        this.isCut = true;
        return false;
      }
      await this.#finish(some);
      await pauseFor((performance.now() - begun) * (settings.rest ?? 1), signal);
    }
    return true;
  }

  /** Whether so many may be open: with those of other shards they are in one item. */
  #hasRoomFor(parts: readonly OpenPart[]): boolean {
    const all = [...this.#place.open, ...parts];
    if (all.length > MOST_OPEN_PARTS) return false;
    const bytes = all.reduce((sum, { target }) => sum + Buffer.byteLength(JSON.stringify(target)) + REASON_BYTES, 0);
    return bytes <= MOST_OPEN_BYTES;
  }

  /** Does what can be done of parts that are written down as begun. */
  async #finish(parts: readonly OpenPart[]): Promise<void> {
    const { work, at, mayGoOn, done } = this.#turn;
    if (parts.length === 0) return;
    const patience: Patience = { mayGoOn, looksMs: LOOKS_MS };
    const waiting: OpenPart[] = [];
    await sideBySide(parts, async (part) => {
      const one = await erasePart(work, at, part, patience);
      done(one);
      if (one.waits_for !== null) waiting.push({ target: part.target, waits_for: one.waits_for });
    });
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
