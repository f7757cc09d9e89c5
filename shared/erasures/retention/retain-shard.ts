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
  type RetentionOffset,
} from './retention-offset.ts';
import { slicesOf } from '../../slices-of.ts';

export interface ShardTurn {
  readonly work: ErasureWork;
  readonly at: ShardAt;
  readonly settings: RetentionSettings;
  /** The rules or the log may have changed since its offset was written: all is searched again. */
  readonly isRestarted: boolean;
  /** Checks past every cache that the rules of the turn still apply, since an erasure is final. */
  readonly isAsRuled: () => Promise<boolean>;
  readonly mayGoOn: () => boolean;
  readonly signal: AbortSignal;
  /** Writes the offset. Throws if another worker has the shard by now. */
  readonly write: (place: RetentionOffset) => Promise<void>;
  readonly done: (part: PartDone) => void;
}

const PAGE_CELLS = 1000;
/** Erasures that begin in parallel. */
const PARTS_AT_ONCE = 16;
/** With so many waiting parts, no more are begun in the shard. */
const MOST_OPEN_PARTS = 100;
/** The same in bytes, of a quarter of an item's 400 KB; each part counts with the longest reason to wait. */
const MOST_OPEN_BYTES = 96_000;
const REASON_BYTES = 450;
const POLLS_MS = [0, 20, 100, 400];

/** Returns how many hidden bodies of a column are worth an erasure at once; fewer wait for the next full search. */
export function leastHidden(keepVersions: number): number {
  return Math.min(VERSIONS_AT_ONCE, Math.max(10, Math.ceil(keepVersions / 2)));
}

/**
 * Erases the cells of one shard that are out of their retention.
 *
 * New cells put out older ones of their column, so a search reads the cells since the last one, and each column once.
 * Columns with little to erase wait for the daily full search, so that erasures are few. Aged cells are at the old end
 * of the log, which has its own offset. Parts are recorded before they begin.
 *
 * @returns whether the turn was too short for all
 */
export async function retainShard(turn: ShardTurn, place: RetentionOffset): Promise<boolean> {
  const retaining = new Retaining(turn, place);
  await retaining.run();
  return retaining.isCut;
}

class Retaining {
  readonly #turn: ShardTurn;
  readonly #rules: readonly RetentionRule[];
  #place: RetentionOffset;
  isCut = false;

  constructor(turn: ShardTurn, place: RetentionOffset) {
    this.#turn = turn;
    this.#rules = turn.at.rules ?? [];
    this.#place = place;
  }

  async run(): Promise<void> {
    const { settings } = this.#turn;
    const { wholeMs = WHOLE_MS } = settings;
    if (!(await this.#goOn())) return;
    for (const keepForMs of keepTimes(this.#rules))
      if (Date.now() - this.#agedAt(keepForMs).at >= agedEveryMs(keepForMs, settings)) await this.#findAged(keepForMs);
    if (!this.#rules.some(({ keepVersions }) => keepVersions !== undefined)) return;
    await this.#findHidden(Date.now() - this.#place.all.at >= wholeMs);
  }

  #agedAt(keepForMs: number): Reached {
    return this.#place.aged[keepForMs] ?? { added_id: 0, at: 0 };
  }

  #findAged(keepForMs: number): Promise<void> {
    const isOfRule = (column: string): boolean => retentionOf(this.#rules, column)?.keepForMs === keepForMs;
    return this.#poll({
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

  /** Erases the versions that newer ones put out: all, or only those of columns that have many. */
  #findHidden(isForAll: boolean): Promise<void> {
    const keptOf = (column: string): number | undefined => retentionOf(this.#rules, column)?.keepVersions;
    return this.#poll({
      from: isForAll ? this.#place.all.added_id : this.#place.often,
      isWanted: ({ column_name }) => keptOf(column_name) !== undefined,
      leastOf: (column) => (isForAll ? 1 : leastHidden(keptOf(column) ?? 1)),
      reached: (added_id, isEnd) => {
        const { all, often } = this.#place;
        const next = { added_id, at: isEnd ? Date.now() : all.at };
        return { ...this.#place, often: Math.max(often, added_id), ...(isForAll && { all: next }) };
      },
    });
  }

  /** Reads the log from an offset on, and erases in the columns of its cells. */
  async #poll({ from, keepForMs, isWanted, leastOf, reached }: Poll): Promise<void> {
    const { at, mayGoOn } = this.#turn;
    const seen = new Map<string, number>();
    for (let after = from; ;) {
      const rows = await this.#select(selectWritten(at.datastore, at.shard, after, PAGE_CELLS, keepForMs));
      const cells = toWritten(rows, after);
      const wanted = cells.filter((cell) => canBeErased(cell.column_name) && isWanted(cell));
      // Each aged cell counts alone; a column of which newer cells put out older ones is read once up to the head.
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

  /** Returns the last added id of the log. */
  async #head(): Promise<number> {
    const { datastore, shard } = this.#turn.at;
    return toHeads(await this.#select(selectHeads(datastore, [shard]))).get(shard) ?? 0;
  }

  /**
   * Continues the erasures that were begun. Under the same rules and epoch, their cells are still out of retention.
   * Under others, drops parts that are in no log or buffer yet: the search finds them again. Returns false if the turn
   * must end: a group whose buffer may have such a part is unavailable, or the rules have changed.
   */
  async #goOn(): Promise<boolean> {
    const { work, at, isRestarted, isAsRuled } = this.#turn;
    const { open } = this.#place;
    if (isRestarted) {
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

  /** Erases in some columns. Returns false if not all parts were begun. */
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

  /** Erases parts. Returns false if not all were begun. */
  async #erase(parts: readonly OpenPart[]): Promise<boolean> {
    const { settings, signal, mayGoOn, isAsRuled } = this.#turn;
    for (const some of slicesOf(parts, PARTS_AT_ONCE)) {
      if (!mayGoOn()) this.isCut = true;
      if (this.isCut || !this.#hasRoomFor(some)) return false;
      const begun = performance.now();
      const before = this.#place.open;
      await this.#write({ ...this.#place, open: [...before, ...some] });
      // The last check, so that a loosened rule takes effect before the turn ends.
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

  /** Returns whether so many may be open: one item has those of several shards. */
  #hasRoomFor(parts: readonly OpenPart[]): boolean {
    const all = [...this.#place.open, ...parts];
    if (all.length > MOST_OPEN_PARTS) return false;
    const bytes = all.reduce((sum, { target }) => sum + Buffer.byteLength(JSON.stringify(target)) + REASON_BYTES, 0);
    return bytes <= MOST_OPEN_BYTES;
  }

  /** Continues recorded parts as far as possible. */
  async #finish(parts: readonly OpenPart[]): Promise<void> {
    const { work, at, mayGoOn, done } = this.#turn;
    if (parts.length === 0) return;
    const patience: Patience = { mayGoOn, pollsMs: POLLS_MS };
    const waiting: OpenPart[] = [];
    await sideBySide(parts, async (part) => {
      const one = await erasePart(work, at, part, patience);
      done(one);
      if (one.waits_for !== null) waiting.push({ target: part.target, waits_for: one.waits_for });
    });
    const others = this.#place.open.filter((one) => !parts.includes(one));
    await this.#write({ ...this.#place, open: [...others, ...waiting] });
  }

  async #write(place: RetentionOffset): Promise<void> {
    if (JSON.stringify(place) !== JSON.stringify(this.#place)) await this.#turn.write(place);
    this.#place = place;
  }

  /** Reads from the writer, since readers may be behind. */
  async #select(statement: Statement): Promise<readonly SqlRow[]> {
    const { work, at } = this.#turn;
    const { topology, groups } = work.context;
    const { group } = homeOf(await requireDatastore(topology, at.datastore), at.shard);
    return (await groups.client(group)).select(statement, 'writer');
  }
}

interface Poll {
  readonly from: number;
  /** Reads only cells older than this. @default all */
  readonly keepForMs?: number;
  readonly isWanted: (cell: WrittenCell) => boolean;
  /** How many bodies of a column are worth an erasure. */
  readonly leastOf: (column: string) => number;
  readonly reached: (added_id: number, isEnd: boolean) => RetentionOffset;
}
