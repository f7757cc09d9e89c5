import { START, type Position } from './source.ts';

export interface Line {
  readonly line: number;
  /** The line without its ending. Undefined if it was longer than `mostBytes`. */
  readonly bytes: Buffer | undefined;
  readonly ending: '\n' | '\r\n' | '\r' | '';
  readonly end: number;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NOTHING = Buffer.alloc(0);

/** Yields a stream's lines by piece, from `from`. An overlong line has only its number and end. */
export async function* readLines(
  stream: AsyncIterable<Buffer>,
  mostBytes: number,
  from: Position = START,
): AsyncIterable<readonly Line[]> {
  let { items: line, bytes: end } = from;
  let parts: Buffer[] = [];
  let length = 0;
  const ended = (last: Buffer, ending: Line['ending']): Line => {
    line += 1;
    length += last.length;
    end += last.length + ending.length;
    const isWhole = length <= mostBytes;
    const bytes = !isWhole ? undefined : parts.length === 0 ? last : Buffer.concat([...parts, last]);
    [parts, length] = [[], 0];
    return { line, bytes, ending, end };
  };
  let held: Buffer = NOTHING;
  for await (const read of stream) {
    const joined = held.length === 0 ? read : Buffer.concat([held, read]);
    // A carriage return waits for the next piece, which may begin with its line feed.
    const isHeld = joined.at(-1) === CARRIAGE_RETURN;
    const piece = isHeld ? joined.subarray(0, -1) : joined;
    held = isHeld ? joined.subarray(-1) : NOTHING;
    const lines: Line[] = [];
    let at = 0;
    let [feed, carriage] = [find(piece, LINE_FEED, at), find(piece, CARRIAGE_RETURN, at)];
    for (let stop = Math.min(feed, carriage); stop < piece.length; stop = Math.min(feed, carriage)) {
      const ending = stop === feed ? '\n' : feed === stop + 1 ? '\r\n' : '\r';
      lines.push(ended(piece.subarray(at, stop), ending));
      at = stop + ending.length;
      if (feed < at) feed = find(piece, LINE_FEED, at);
      if (carriage < at) carriage = find(piece, CARRIAGE_RETURN, at);
    }
    const rest = piece.subarray(at);
    length += rest.length;
    end += rest.length;
    if (length > mostBytes) parts = [];
    else if (rest.length > 0) parts.push(rest);
    if (lines.length > 0) yield lines;
  }
  if (held.length > 0) yield [ended(NOTHING, '\r')];
  else if (length > 0) yield [ended(NOTHING, '')];
}

function find(piece: Buffer, byte: number, from: number): number {
  const at = piece.indexOf(byte, from);
  return at < 0 ? Infinity : at;
}
