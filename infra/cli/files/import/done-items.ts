import type { Position, Reject, SourceItem } from './source.ts';

export type End = 'stored' | 'stored_before' | 'buffered' | 'rejected';

export type Counts = Readonly<Record<End, number>>;

export const NO_COUNTS: Counts = { stored: 0, stored_before: 0, buffered: 0, rejected: 0 };

/** In a journal, a letter for each end that need not be brought about again. */
const LETTERS = { stored: 's', stored_before: 'e', buffered: 'b' } as const;
/** Under way, or rejected: what was wrong with it is found again. */
const NOT_DONE = '.';

export interface Entry {
  readonly line: number;
  readonly position: Position;
  /** As text. */
  readonly bytes: number;
  end: End | undefined;
  reject: Reject | undefined;
}

/** What has newly come to be before everything that is still under way. */
interface Advance {
  readonly items: number;
  readonly position: Position;
  readonly ends: Readonly<Record<End, number>>;
  readonly rejects: readonly { readonly line: number; readonly reject: Reject }[];
}

/** The items of one source that were begun, in their order, and how far all of them are done. */
export class DoneItems {
  readonly #entries: Entry[] = [];
  /** What a journal says of those that come next. */
  readonly #known: string;
  #begun = 0;
  #position: Position;
  /** Entries before the first that is under way, */
  #settled = 0;
  /** and what the others take as text. */
  #bytes = 0;

  /** @param known the `letters` of the items from that position on, as a journal has them */
  constructor(position: Position, known = '') {
    this.#position = position;
    this.#known = known;
  }

  /** One that was done before has its end already. */
  begin({ line, end, bytes, reject }: SourceItem): Entry {
    const known = reject ? 'rejected' : endOf(this.#known[this.#begun]);
    const entry: Entry = { line, position: end, bytes, reject, end: known };
    this.#begun += 1;
    this.#entries.push(entry);
    this.#bytes += bytes;
    return entry;
  }

  /** Whether nothing is under way. */
  get isDone(): boolean {
    return this.#entries.length === 0;
  }

  /** What became of each item behind the position that is written down, as far as any is done. */
  get letters(): string {
    const letters = `${this.#entries.map(letterOf).join('')}${this.#known.slice(this.#begun)}`;
    let end = letters.length;
    while (end > 0 && letters[end - 1] === NOT_DONE) end -= 1;
    return letters.slice(0, end);
  }

  /** What became of items while others before them are still under way, and the bytes from each to the next. */
  get ahead(): { readonly ends: Counts; readonly bytes: number } {
    const ends = { ...NO_COUNTS };
    let bytes = 0;
    let from = this.#position.bytes;
    for (const { end, position } of this.#entries) {
      if (end !== undefined) {
        ends[end] += 1;
        bytes += position.bytes - from;
      }
      from = position.bytes;
    }
    return { ends, bytes };
  }

  /** The first item that is under way and all behind it: what is kept in memory. */
  get begun(): { readonly items: number; readonly bytes: number } {
    for (let next = this.#entries[this.#settled]; next?.end !== undefined; next = this.#entries[this.#settled]) {
      this.#settled += 1;
      this.#bytes -= next.bytes;
    }
    return { items: this.#entries.length - this.#settled, bytes: this.#bytes };
  }

  /** How far it is to the first item that is still under way. */
  advance(): Advance {
    const items = this.#entries.length - this.begun.items;
    const ends = { ...NO_COUNTS };
    const rejects: { line: number; reject: Reject }[] = [];
    for (const { line, end, reject } of this.#entries.slice(0, items)) {
      if (end !== undefined) ends[end] += 1;
      if (reject) rejects.push({ line, reject });
    }
    return { items, position: this.#entries[items - 1]?.position ?? this.#position, ends, rejects };
  }

  /** What an advance said is written down: it is said no more. */
  forget({ items, position }: Advance): void {
    this.#entries.splice(0, items);
    this.#settled -= items;
    this.#position = position;
  }
}

/** How many items some letters say are stored. */
export function storedOf(letters: string): number {
  return letters.split(LETTERS.stored).length - 1;
}

function letterOf({ end }: Entry): string {
  return end === undefined || end === 'rejected' ? NOT_DONE : LETTERS[end];
}

function endOf(letter = NOT_DONE): End | undefined {
  return (Object.keys(LETTERS) as (keyof typeof LETTERS)[]).find((end) => LETTERS[end] === letter);
}
