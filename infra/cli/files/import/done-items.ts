import type { Position, Reject, SourceItem } from './source.ts';

/** What becomes of an item in the end. */
export type End = 'stored' | 'stored_before' | 'buffered' | 'rejected';

/** Counts of ends. */
export type Counts = Readonly<Record<End, number>>;

export const NO_COUNTS: Counts = { stored: 0, stored_before: 0, buffered: 0, rejected: 0 };

/** An item on its way. */
export interface Entry {
  readonly line: number;
  readonly position: Position;
  end: End | undefined;
  reject: Reject | undefined;
}

/** What has newly come to be before everything that is still under way. */
export interface Advance {
  readonly position: Position;
  readonly ends: Readonly<Record<End, number>>;
  readonly rejects: readonly { readonly line: number; readonly reject: Reject }[];
}

/** The items of one source that were begun, in their order, and how far all of them are done. */
export class DoneItems {
  readonly #entries: Entry[] = [];
  #position: Position;

  constructor(position: Position) {
    this.#position = position;
  }

  begin({ line, end, reject }: SourceItem): Entry {
    const entry: Entry = { line, position: end, end: reject && 'rejected', reject };
    this.#entries.push(entry);
    return entry;
  }

  /** Whether nothing is under way. */
  get isDone(): boolean {
    return this.#entries.length === 0;
  }

  /** What became of items while others before them are still under way. */
  get ahead(): Counts {
    const ends = { ...NO_COUNTS };
    for (const { end } of this.#entries) if (end !== undefined) ends[end] += 1;
    return ends;
  }

  /** Goes on to the first item that is still under way. */
  advance(): Advance {
    const ends = { ...NO_COUNTS };
    const rejects: { line: number; reject: Reject }[] = [];
    const first = this.#entries.findIndex(({ end }) => end === undefined);
    for (const { line, position, end, reject } of this.#entries.splice(0, first < 0 ? this.#entries.length : first)) {
      this.#position = position;
      if (end !== undefined) ends[end] += 1;
      if (reject) rejects.push({ line, reject });
    }
    return { position: this.#position, ends, rejects };
  }
}
