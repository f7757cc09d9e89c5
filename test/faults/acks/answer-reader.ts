const HEADER_BYTES = 4;
/** First byte of a packet that says that something was refused. */
const ERROR = 0xff;
/** SERVER_MORE_RESULTS_EXISTS, of the status of a packet that says that something was done. */
const MORE_RESULTS = 0x0008;

/** Collects what a server answers to changes, until it is all there: of several in one text an answer each, in turn. */
export class AnswerReader {
  #bytes = Buffer.alloc(0);

  /** The whole answer, once this chunk has completed it. */
  read(chunk: Buffer): Buffer | undefined {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (let at = 0; at + HEADER_BYTES <= this.#bytes.length;) {
      const end = at + HEADER_BYTES + this.#bytes.readUIntLE(at, 3);
      if (end > this.#bytes.length) return undefined;
      if (isLast(this.#bytes.subarray(at + HEADER_BYTES, end))) {
        const whole = this.#bytes;
        this.#bytes = Buffer.alloc(0);
        return whole;
      }
      at = end;
    }
    return undefined;
  }
}

function isLast(packet: Buffer): boolean {
  if (packet[0] === ERROR) return true;
  // Behind the first byte: how many rows, and which insert id, each of one to nine bytes.
  const insertId = 1 + lengthOf(packet[1] ?? 0);
  const status = insertId + lengthOf(packet[insertId] ?? 0);
  return (packet.readUInt16LE(status) & MORE_RESULTS) === 0;
}

/** How long a number is that begins with this byte, which tells it. */
function lengthOf(first: number): number {
  return { 0xfc: 3, 0xfd: 4, 0xfe: 9 }[first] ?? 1;
}
