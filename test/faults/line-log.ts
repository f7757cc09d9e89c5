import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/**
 * Appends lines to a file that several processes may share, each with one call. They are in the order of these calls,
 * and lines of a process that was killed afterwards count.
 */
export function noteLines<Line>(file: string): Disposable & { note(line: Line): void } {
  const handle = openSync(file, 'a');
  return {
    note: (line) => void writeSync(handle, `${JSON.stringify(line)}\n`),
    [Symbol.dispose]: () => closeSync(handle),
  };
}

const CHUNK_BYTES = 256 * 1024;

/** Reads such lines, also while more are appended. */
export class NotedLines<Line> implements Disposable {
  readonly #handle: number;
  readonly #all: Line[] = [];
  readonly #chunk = Buffer.alloc(CHUNK_BYTES);
  #rest = Buffer.alloc(0);

  constructor(file: string) {
    this.#handle = openSync(file, 'a+');
  }

  read(): readonly Line[] {
    for (;;) {
      const bytes = readSync(this.#handle, this.#chunk);
      if (bytes === 0) return this.#all;
      const whole = Buffer.concat([this.#rest, this.#chunk.subarray(0, bytes)]);
      const end = whole.lastIndexOf('\n') + 1;
      this.#rest = whole.subarray(end);
      for (const line of whole.toString('utf8', 0, end).split('\n'))
        if (line !== '') this.#all.push(JSON.parse(line) as Line);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#handle);
  }
}
