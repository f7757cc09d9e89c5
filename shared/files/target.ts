import type { Readable } from 'node:stream';

/** The target of an export: a folder or an S3 prefix. Paths have two names at most: `part-0001/0233.ndjson.gz`. */
export interface ExportTarget {
  readonly name: string;
  folders(): Promise<readonly string[]>;
  readText(path: string): Promise<string | undefined>;
  /** Writes atomically: readers find the old text or the new, even after a crash. */
  writeText(path: string, text: string): Promise<void>;
  /** Returns the path of a local file, to be written and then stored. */
  scratch(path: string): Promise<string>;
  /** Stores a scratch file, whose bytes are on disk, at its path: whole or not at all. */
  store(scratch: string, path: string): Promise<void>;
  open(path: string): Promise<Readable>;
  remove(path: string): Promise<void>;
  /** Keeps other exports out until released. The signal ends the wait for another one. Throws `busy_export`. */
  lock?(signal?: AbortSignal): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Asks before each write, and writes nothing if that throws: then another export may be at work. */
export function whileHeld(target: ExportTarget, ask: () => void | Promise<void>): ExportTarget {
  return {
    ...target,
    async writeText(path, text) {
      await ask();
      await target.writeText(path, text);
    },
    async store(scratch, path) {
      await ask();
      await target.store(scratch, path);
    },
    async remove(path) {
      await ask();
      await target.remove(path);
    },
  };
}
