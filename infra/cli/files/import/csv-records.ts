import type { Line } from './read-lines.ts';

/** A body has at most 1 MiB, but a record may have other values. */
export const RECORD_BYTES = 8 * 1024 * 1024;
/** Short lines take more memory than their bytes. */
const RECORD_LINES = 100_000;
/** A file that is broken throughout gives a reject for so many lines. */
const BROKEN_LINES = 100;

/** A line as text: undefined if it is longer than a record can be. A lone surrogate is in the place of a byte that is no text. */
export interface TextLine extends Omit<Line, 'bytes'> {
  readonly text: string | undefined;
}

export interface RecordShape {
  readonly delimiter: string;
  /** The values of a record; undefined before the header is known. */
  readonly width: number | undefined;
}

export type CsvRecord = { readonly lines: readonly TextLine[] } & (
  | { readonly values: readonly string[]; readonly fault: undefined }
  | { readonly values?: undefined; readonly fault: string }
);

/**
 * Returns the record that begins with a line. A broken one ends where its quotes seem to, or before the next line that
 * begins a record without a fault. Returns undefined if more lines are needed; `isWhole`: there are none.
 */
export function recordAt(
  lines: readonly TextLine[],
  start: number,
  shape: RecordShape,
  isWhole: boolean,
): CsvRecord | undefined {
  const strict = parse(lines, start, shape, isWhole);
  if (strict === undefined) return undefined;
  const { fault, values } = strict;
  if (fault === undefined) return { lines: lines.slice(start, strict.end), values, fault };
  const lenient = new RecordParser(shape.delimiter);
  let [end, length] = [start, 0];
  for (;;) {
    const line = lines[end] as TextLine;
    lenient.add(line);
    length += line.text?.length ?? 0;
    end += 1;
    if (!lenient.isOpen || end - start === BROKEN_LINES || length > RECORD_BYTES) break;
    const next = parse(lines, end, shape, isWhole);
    if (next === undefined && !isWhole) return undefined;
    if (next?.fault === undefined || standsAlone(lines[end], shape)) break;
  }
  return { lines: lines.slice(start, end), fault };
}

/** Returns whether a line seems to be a record of its own, though it is broken: not the rest of a value with quotes. */
function standsAlone(line: TextLine | undefined, { delimiter, width }: RecordShape): boolean {
  if (line?.text === undefined) return true;
  const lenient = new RecordParser(delimiter);
  lenient.add(line);
  return !lenient.isOpen && lenient.values.length === width && !lenient.hasLooseQuotes;
}

/** Parses a record until its end or its first fault. Returns undefined if its lines end before. */
function parse(lines: readonly TextLine[], start: number, { delimiter, width }: RecordShape, isWhole: boolean) {
  const parser = new RecordParser(delimiter);
  const { values } = parser;
  let length = 0;
  for (let end = start; end < lines.length;) {
    const line = lines[end] as TextLine;
    parser.add(line);
    length += line.text?.length ?? 0;
    end += 1;
    if (parser.fault !== undefined) return { values, fault: parser.fault, end };
    if (!parser.isOpen) {
      const isWide = width === undefined || values.length === width;
      return {
        values,
        fault: isWide ? undefined : `wanted ${width} values, as in the first line, got ${values.length}`,
        end,
      };
    }
    if (length > RECORD_BYTES || end - start > RECORD_LINES)
      return { values, fault: parser.faultOf(`its end within ${RECORD_BYTES} bytes and ${RECORD_LINES} lines`), end };
  }
  return isWhole && start < lines.length
    ? { values, fault: parser.faultOf('its end before that of the file'), end: lines.length }
    : undefined;
}

/** Parses the lines of a record as in RFC 4180. After a fault, it takes quotes for text where they can be nothing else. */
class RecordParser {
  readonly values: string[] = [];
  fault: string | undefined;
  /** Whether a value without quotes around it has some. */
  hasLooseQuotes = false;
  readonly #delimiter: string;
  /** The text so far of a value with quotes. */
  #open: string | undefined;
  #openedIn = 0;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Returns a fault of the value with quotes. */
  faultOf(what: string): string {
    return `value ${this.values.length + 1}, whose quote opens in line ${this.#openedIn}: wanted ${what}`;
  }

  add({ line, text, ending }: TextLine): void {
    if (text === undefined) {
      this.fault ??= this.isOpen
        ? this.faultOf(`its end before line ${line}, which has over ${RECORD_BYTES} bytes`)
        : `line ${line}: wanted at most ${RECORD_BYTES} bytes`;
      return;
    }
    for (let at: number | undefined = 0; at !== undefined;)
      if (this.#open !== undefined) at = this.#addQuoted(text, at, { line, ending });
      else if (text[at] === '"') [this.#open, this.#openedIn, at] = ['', line, at + 1];
      else at = this.#addPlain(text, at, line);
  }

  /** Returns the start of the next value in this line, if there is one. */
  #addPlain(text: string, at: number, line: number): number | undefined {
    const next = text.indexOf(this.#delimiter, at);
    const value = next < 0 ? text.slice(at) : text.slice(at, next);
    this.hasLooseQuotes ||= value.includes('"');
    if (this.hasLooseQuotes)
      this.fault ??= `value ${this.values.length + 1} in line ${line}: wanted quotes around all of it or none, got one inside`;
    this.values.push(value);
    return next < 0 ? undefined : next + 1;
  }

  #addQuoted(text: string, at: number, { line, ending }: Pick<TextLine, 'line' | 'ending'>): number | undefined {
    const quote = text.indexOf('"', at);
    if (quote < 0) {
      this.#open += text.slice(at) + ending;
      return undefined;
    }
    const next = text[quote + 1];
    if (next === undefined || next === this.#delimiter) {
      this.values.push(this.#open + text.slice(at, quote));
      this.#open = undefined;
      return next === undefined ? undefined : quote + 2;
    }
    this.#open += text.slice(at, quote + 1);
    if (next === '"') return quote + 2;
    this.fault ??= this.faultOf(`quotes inside it twice, got one before ${JSON.stringify(next)} in line ${line}`);
    return quote + 1;
  }
}
