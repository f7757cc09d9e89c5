const HEADER_BYTES = 4;
/** Enough of a statement to tell what it changes. */
const START_BYTES = 80;

/**
 * Finds the commands in what a MySQL client sends, and how each begins. A packet is three bytes of length, one of
 * sequence, then the content; a command starts its sequence at 0, and nothing of the handshake does.
 */
export class StatementReader {
  #header: number[] = [];
  #contentLeft = 0;
  /** Of the command that is being read, what of its start is still to come; 0 where there is none. */
  #startLeft = 0;
  #start = '';

  /** The starts of commands that were completed by this chunk of the stream. */
  read(chunk: Buffer): readonly string[] {
    const starts: string[] = [];
    for (let at = 0; at < chunk.length;) {
      if (this.#contentLeft === 0) {
        this.#takeHeader(chunk[at] ?? 0);
        at += 1;
        continue;
      }
      const taken = Math.min(this.#contentLeft, chunk.length - at);
      this.#contentLeft -= taken;
      if (this.#startLeft > 0) {
        const part = chunk.subarray(at, at + Math.min(taken, this.#startLeft));
        this.#start += part.toString('latin1');
        this.#startLeft = this.#contentLeft === 0 ? 0 : this.#startLeft - part.length;
        if (this.#startLeft === 0) starts.push(this.#start);
      }
      at += taken;
    }
    return starts;
  }

  #takeHeader(byte: number): void {
    this.#header.push(byte);
    if (this.#header.length < HEADER_BYTES) return;
    const [low = 0, middle = 0, high = 0, sequence = 0] = this.#header;
    this.#header = [];
    this.#contentLeft = low + middle * 0x100 + high * 0x10000;
    this.#start = '';
    this.#startLeft = sequence === 0 ? START_BYTES : 0;
  }
}

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
