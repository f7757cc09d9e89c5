import { LIMITS } from '../cell.ts';
import { bytesOf, FORBIDDEN, isArray, isMap, isText, MessagePackReader } from './read-message-pack.ts';

/** Whether these bytes are one JSON value in MessagePack, in a fifth of the time of reading them. */
export function isWellFormed(bytes: Uint8Array): boolean {
  const reader = new MessagePackPasser(bytes);
  try {
    reader.pass(0);
    reader.end();
    return true;
  } catch {
    return false;
  }
}

export class MessagePackPasser extends MessagePackReader {
  pass(depth: number): void {
    if (depth > LIMITS.bodyDepth + 1) throw new Error('it is nested too deep');
    const type = this.byte();
    if (type < 0x80 || type >= 0xe0) return;
    // Most by far are short texts.
    if (type >= 0xa0 && type < 0xc0) this.skip(type & 0x1f);
    else if (isText(type)) this.skip(this.length(type));
    else if (isMap(type))
      for (let left = this.length(type); left > 0; left -= 1) {
        this.#passName();
        this.pass(depth + 1);
      }
    else if (isArray(type)) for (let left = this.length(type); left > 0; left -= 1) this.pass(depth + 1);
    else if (type === 0xcb) {
      const start = this.skip(8);
      // As its exponent says, without making a number of it.
      if (((this.bytes[start] ?? 0) & 0x7f) === 0x7f && (this.bytes[start + 1] ?? 0) >= 0xf0)
        throw new Error('no number');
    } else this.skip(bytesOf(type));
  }

  #passName(): void {
    const type = this.byte();
    if (!isText(type)) throw new Error('a name that is no text');
    const length = type < 0xc0 ? type & 0x1f : this.length(type);
    const start = this.skip(length);
    if (length === FORBIDDEN.length && this.bytes[start] === 0x5f && this.string(start) === FORBIDDEN)
      throw new Error(`the key ${FORBIDDEN}`);
  }
}
