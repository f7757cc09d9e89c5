import { START, type Position } from './source.ts';

export interface Line {
  readonly line: number;
  /** Undefined where it was longer than `mostBytes`. */
  readonly bytes: Buffer | undefined;
  readonly end: number;
}

const LINE_FEED = 0x0a;

/** Yields a stream's lines by piece, from `from`. Of an overlong line only its number and end come. */
export async function* readLines(
  stream: AsyncIterable<Buffer>,
  mostBytes: number,
  from: Position = START,
): AsyncIterable<readonly Line[]> {
  let { items: line, bytes: end } = from;
  let parts: Buffer[] = [];
  let length = 0;
  const ended = (last: Buffer, feed: number): Line => {
    line += 1;
    length += last.length;
    end += last.length + feed;
    const isWhole = length <= mostBytes;
    const bytes = !isWhole ? undefined : parts.length === 0 ? last : Buffer.concat([...parts, last]);
    [parts, length] = [[], 0];
    return { line, bytes, end };
  };
  for await (const piece of stream) {
    const lines: Line[] = [];
    let at = 0;
    for (let feed = piece.indexOf(LINE_FEED); feed >= 0; feed = piece.indexOf(LINE_FEED, at)) {
      lines.push(ended(piece.subarray(at, feed), 1));
      at = feed + 1;
    }
    const rest = piece.subarray(at);
    length += rest.length;
    end += rest.length;
    if (length > mostBytes) parts = [];
    else if (rest.length > 0) parts.push(rest);
    if (lines.length > 0) yield lines;
  }
  if (length > 0) yield [ended(Buffer.alloc(0), 0)];
}
