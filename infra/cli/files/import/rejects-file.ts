import { open, rm, type FileHandle } from 'node:fs/promises';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { OWN_FILE } from '../write-durably.ts';
import type { Reject } from './source.ts';

interface RejectedLine extends Reject {
  readonly file: string;
  readonly line: number;
  readonly last_line: number;
}

/** NDJSON of lines that were not stored, in order. Exists from the start, and is deleted at the end if empty. */
export class RejectsFile {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #isMade: boolean;
  #bytes: number;

  private constructor(path: string, file: FileHandle, { bytes, isMade }: { bytes: number; isMade: boolean }) {
    this.path = path;
    this.#file = file;
    this.#bytes = bytes;
    this.#isMade = isMade;
  }

  /** Keeps `bytes` of a file; undefined: the journal knows none. Throws `bad_option`, `bad_journal` (too short). */
  static async open(path: string, bytes: number | undefined): Promise<RejectsFile> {
    const { file, isMade } = await openOrMake(path);
    const { size } = await file.stat();
    const rejects = new RejectsFile(path, file, { bytes: bytes ?? 0, isMade });
    try {
      if (bytes === undefined && size > 0)
        throw new FilesError(
          'bad_option',
          `rejects: wanted a new file, got ${path} of ${size} bytes, which is not of this import; move it, or name another one with --rejects`,
        );
      if (bytes !== undefined && size < bytes)
        throw new FilesError(
          'bad_journal',
          `${path}: wanted the ${bytes} bytes of rejects in the journal, got ${size}: restore the file, name it with --rejects, or start again with --restart`,
        );
      if (size > (bytes ?? 0)) await file.truncate(bytes);
    } catch (error) {
      await file.close();
      if (isMade) await rm(path, { force: true });
      throw error;
    }
    return rejects;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Appends lines, and returns once they are on disk. A failure leaves the file unchanged. */
  async append(lines: readonly RejectedLine[]): Promise<void> {
    if (lines.length === 0) return;
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    try {
      await this.#file.appendFile(bytes);
      await this.#file.datasync();
    } catch (error) {
      await this.#file.truncate(this.#bytes).catch(() => undefined);
      throw error;
    }
    this.#bytes += bytes.length;
  }

  async close(): Promise<void> {
    await this.#file.close();
    if (this.#isMade && this.#bytes === 0) await rm(this.path, { force: true });
  }
}

async function openOrMake(path: string): Promise<{ readonly file: FileHandle; readonly isMade: boolean }> {
  try {
    return { file: await open(path, 'ax', OWN_FILE), isMade: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return { file: await open(path, 'a'), isMade: false };
  }
}
