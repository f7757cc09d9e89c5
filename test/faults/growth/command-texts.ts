const HEADER_BYTES = 4;
/** Longer than the first word of any statement. */
const TEXT_BYTES = 32;
const COM_QUERY = 3;
/**
 * The prefix of the text if both sides know query attributes, as MySQL's servers do and MariaDB's do not: none, in one
 * set.
 */
const NO_ATTRIBUTES = '\u0000\u0001';

/**
 * Finds the beginnings of statements in the stream of a MySQL client. A packet is three bytes of length, one of
 * sequence, then the content; a command starts its sequence at 0, and nothing of the handshake does.
 */
export class CommandTexts {
  #header: number[] = [];
  #left = 0;
  #isFirst = false;
  #text: number[] = [];

  /** Returns the beginnings of the statements that this chunk of the stream completes, or has enough of. */
  read(chunk: Uint8Array): readonly string[] {
    const found: string[] = [];
    for (let at = 0; at < chunk.length;) {
      if (this.#left === 0) {
        this.#header.push(chunk[at] ?? 0);
        at += 1;
        if (this.#header.length < HEADER_BYTES) continue;
        const [low = 0, middle = 0, high = 0, sequence = 0] = this.#header;
        this.#left = low + middle * 0x100 + high * 0x10000;
        [this.#header, this.#isFirst, this.#text] = [[], sequence === 0, []];
        continue;
      }
      const taken = Math.min(this.#left, chunk.length - at);
      const isOpen = this.#isFirst && this.#text.length < TEXT_BYTES;
      if (isOpen) this.#text.push(...chunk.subarray(at, at + Math.min(taken, TEXT_BYTES - this.#text.length)));
      this.#left -= taken;
      at += taken;
      if (isOpen && (this.#text.length === TEXT_BYTES || this.#left === 0)) {
        const [command, ...text] = this.#text;
        if (command === COM_QUERY) found.push(textOf(text));
        this.#isFirst = false;
      }
    }
    return found;
  }
}

function textOf(bytes: readonly number[]): string {
  const text = Buffer.from(bytes).toString('latin1');
  return text.startsWith(NO_ATTRIBUTES) ? text.slice(NO_ATTRIBUTES.length) : text;
}

/** These change nothing that must be on a disk. */
const READS = /^\s*(?:SELECT|\(SELECT|SET|SHOW|USE|ROLLBACK|DO|KILL|EXPLAIN|WITH)\b/iu;

/** Returns whether a statement ends with a commit: several sent as one text end with one. */
export function isCommit(text: string): boolean {
  return !READS.test(text);
}
