import { open, type FileHandle } from 'node:fs/promises';
import type { Reject } from './source.ts';

/** A line of the file. */
export interface RejectedLine extends Reject {
  readonly file: string;
  readonly line: number;
}

/** NDJSON of what was not stored, in the order of the lines. Made with the first of them. */
export class RejectsFile {
  readonly path: string;
  #file: FileHandle | undefined;
  #bytes: number;

  private constructor(path: string, bytes: number) {
    this.path = path;
    this.#bytes = bytes;
  }

  /** @param bytes that are kept of what is there: what the journal knows of */
  static async open(path: string, bytes: number): Promise<RejectsFile> {
    const rejects = new RejectsFile(path, bytes);
    try {
      const file = await open(path, 'r+');
      await file.truncate(bytes);
      await file.close();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      rejects.#bytes = 0;
    }
    return rejects;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns once they are on disk. */
  async append(lines: readonly RejectedLine[]): Promise<void> {
    if (lines.length === 0) return;
    this.#file ??= await open(this.path, 'a');
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await this.#file.appendFile(bytes);
    await this.#file.datasync();
    this.#bytes += bytes.length;
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
