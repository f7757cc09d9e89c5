import { LIMITS, type Role } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { bytesCome, leftOutBytes, type BodyBound, type ItemRows, type StoredCell } from '../sql/cell-rows.ts';
import type { Statement } from '../sql/client.ts';
import { selectCells, type ShardKey } from '../sql/statements/select-cells.ts';
import { selectRow } from '../sql/statements/select-row.ts';
import { unionOf } from '../sql/union.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import type { StoreContext } from './context.ts';
import { byGroup } from './groups.ts';
import { atMostBytesOf, decodeOrMark, type DecodedCell } from './decode.ts';
import { readGroup, type GroupItem, pageBytes } from './ask-parts.ts';

interface Wanting<Item extends { readonly shard: number }> {
  readonly context: StoreContext;
  readonly topology: DatastoreTopology;
  readonly read: Role;
  readonly packed: boolean | undefined;
  readonly statement: (items: readonly Item[], bound: BodyBound) => Statement;
  readonly minimumOf: (item: Item) => number | undefined;
  /** Returns the likely bytes of an item that did not come whole; undefined if it did. */
  readonly leftOut: (answer: ItemRows, most: number) => number | undefined;
}

export function wantingCells(of: ReadOf): Wanting<ShardKey> {
  return {
    ...of,
    statement: (keys, bound) =>
      selectCells(of.topology, keys, true, bound.bytes < LIMITS.answerBytes ? bound : undefined),
    minimumOf: ({ key }) => key.min_added_id,
    leftOut: ({ cells: [cell] }) => cell && leftOutBytes(cell),
  };
}

export function wantingRows(of: ReadOf): Wanting<{ readonly row_key: string; readonly shard: number }> {
  const range = { columns: undefined, after: undefined, limit: LIMITS.listCells + 1 };
  return {
    ...of,
    statement: (rows, { bytes }) =>
      unionOf(
        rows.map(({ row_key, shard }, item) =>
          selectRow(of.topology, shard, { ...range, row_key, bytes }, false, item),
        ),
      ),
    minimumOf: () => undefined,
    // How much longer a row is than what came is unknown.
    leftOut: ({ cells }, most) =>
      cells.length > LIMITS.listCells || cells.reduce((sum, cell) => sum + bytesCome(cell), 0) >= most
        ? LIMITS.bodyBytes
        : undefined,
  };
}

type ReadOf = Pick<Wanting<never>, 'context' | 'topology' | 'read' | 'packed'>;

/** Cells of many groups; large ones are fetched once the answer has room for them. */
export interface WantedCells {
  answer(position: number): GroupItem;
  isLeftOut(position: number): boolean;
  /** Fetches what was left out of these items and, as far as `room` bytes go, of those behind them. */
  complete(positions: { readonly from: number; readonly to: number }, room: number): Promise<void>;
  /** Decodes a cell, if that was not done while other groups were at work. */
  decode(stored: StoredCell): DecodedCell;
  atMostBytes(stored: StoredCell): number;
}

/**
 * Reads items of many groups, one statement each, side by side; a group that is down fails its items alone. Each item
 * brings its share of an answer at most; longer ones are fetched in their turn. Only cells that fit in any case are
 * decoded at once. `decodesEarly`: not if many share an answer: each would decode as many.
 */
export async function readWanted<Item extends { readonly shard: number }>(
  wanting: Wanting<Item>,
  items: readonly Item[],
  decodesEarly = true,
): Promise<WantedCells> {
  const bytesEach = Math.max(LEAST_SHARE_BYTES, Math.floor(LIMITS.answerBytes / Math.max(1, items.length)));
  const cells = new CellsOfGroups(wanting, items, decodesEarly ? LIMITS.answerBytes : 0);
  await cells.ask(
    items.map((_, position) => position),
    items.length === 1 ? undefined : bytesEach,
  );
  return cells;
}

/** Most cells are shorter, so that one statement is enough. */
const LEAST_SHARE_BYTES = 8 * 1024;

interface Positioned<Item> {
  readonly position: number;
  readonly item: Item;
}

class CellsOfGroups<Item extends { readonly shard: number }> implements WantedCells {
  readonly #wanting: Wanting<Item>;
  readonly #items: readonly Item[];
  readonly #answers: GroupItem[] = [];
  readonly #leftOut = new Map<number, number>();
  readonly #early = new Map<StoredCell, DecodedCell>();
  #earlyRoom: number;

  constructor(wanting: Wanting<Item>, items: readonly Item[], earlyRoom: number) {
    this.#wanting = wanting;
    this.#items = items;
    this.#earlyRoom = earlyRoom;
  }

  answer(position: number): GroupItem {
    return this.#answers[position] ?? { cells: [], head: 0, served_by: 'writer', stale: false };
  }

  isLeftOut(position: number): boolean {
    return this.#leftOut.has(position);
  }

  async complete({ from, to }: { readonly from: number; readonly to: number }, room: number): Promise<void> {
    const leftOut = this.#leftOut;
    if (
      leftOut.size === 0 ||
      !Array.from({ length: to - from }, (_, at) => from + at).some((position) => leftOut.has(position))
    )
      return;
    const positions: number[] = [];
    let left = room;
    for (const [position, bytes] of [...leftOut].sort(([one], [other]) => one - other)) {
      if (position < from) continue;
      left -= bytes;
      if (left < 0) break;
      positions.push(position);
    }
    if (positions.length > 0) await this.ask(positions);
  }

  decode(stored: StoredCell): DecodedCell {
    return this.#early.get(stored) ?? decodeOrMark(stored, this.#wanting.packed);
  }

  atMostBytes(stored: StoredCell): number {
    return (this.#early.get(stored) ?? { atMostBytes: atMostBytesOf(stored) }).atMostBytes;
  }

  /** Asks for items; `bytesEach` bounds each. @default a page */
  async ask(positions: readonly number[], bytesEach?: number): Promise<void> {
    const items = this.#items;
    const wanted = positions.flatMap((position) =>
      items[position] ? [{ position, item: items[position], shard: items[position].shard }] : [],
    );
    await Promise.all(
      [...byGroup(this.#wanting.topology, wanted)].map(([group, ofGroup]) => this.#askGroup(group, ofGroup, bytesEach)),
    );
  }

  async #askGroup(group: string, ofGroup: readonly Positioned<Item>[], bytesEach: number | undefined): Promise<void> {
    const wanting = this.#wanting;
    try {
      const client = await wanting.context.groups.client(group);
      const page = pageBytes(client);
      const most = Math.min(bytesEach ?? page, page);
      const bound: BodyBound = { bytes: most, withBeginnings: most * ofGroup.length <= page };
      const found = await wanting.context.admit(group, () =>
        readGroup(client, group, {
          statement: (some) =>
            wanting.statement(
              some.flatMap((at) => ofGroup[at]?.item ?? []),
              bound,
            ),
          minima: ofGroup.map(({ item }) => wanting.minimumOf(item)),
          read: wanting.read,
        }),
      );
      for (const [at, answer] of found.entries()) {
        const position = ofGroup[at]?.position ?? -1;
        this.#answers[position] = answer;
        const bytes = answer.error ? undefined : wanting.leftOut(answer, most);
        if (bytes === undefined) {
          this.#leftOut.delete(position);
          this.#decodeEarly(answer);
        } else this.#leftOut.set(position, bytesEach === undefined ? Number.POSITIVE_INFINITY : bytes);
      }
    } catch (error) {
      if (!(error instanceof SchemalessError)) throw error;
      for (const { position } of ofGroup) {
        this.#answers[position] = { error };
        this.#leftOut.delete(position);
      }
    }
  }

  #decodeEarly(answer: GroupItem): void {
    for (const stored of answer.error ? [] : answer.cells) {
      if (this.#earlyRoom <= 0) return;
      const decoded = decodeOrMark(stored, this.#wanting.packed);
      this.#early.set(stored, decoded);
      this.#earlyRoom -= decoded.atMostBytes;
    }
  }
}
