const HEADER_BYTES = 4;

/** Counts commands in a MySQL client's stream: packets of sequence 0 (3 bytes length, 1 sequence). */
export class CommandReader {
  #header: number[] = [];
  #contentLeft = 0;

  read(chunk: Uint8Array): number {
    let commands = 0;
    let at = 0;
    while (at < chunk.length) {
      if (this.#contentLeft > 0) {
        const taken = Math.min(this.#contentLeft, chunk.length - at);
        this.#contentLeft -= taken;
        at += taken;
        continue;
      }
      this.#header.push(chunk[at] ?? 0);
      at += 1;
      if (this.#header.length < HEADER_BYTES) continue;
      const [low = 0, middle = 0, high = 0, sequence = 0] = this.#header;
      this.#contentLeft = low + middle * 0x100 + high * 0x10000;
      this.#header = [];
      if (sequence === 0) commands += 1;
    }
    return commands;
  }
}
