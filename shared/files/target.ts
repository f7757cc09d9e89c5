import type { Readable } from 'node:stream';

/** Where an export goes: a folder, or a prefix of a bucket. Paths are of two names at most: `part-0001/0233.ndjson.gz`. */
export interface ExportTarget {
  readonly name: string;
  folders(): Promise<readonly string[]>;
  readText(path: string): Promise<string | undefined>;
  /** Whoever reads it finds the old text or the new, after a crash, too. */
  writeText(path: string, text: string): Promise<void>;
  /** The file, on this machine, that something is written to first that is then to be stored. */
  scratch(path: string): Promise<string>;
  /** Gives a scratch file, whose bytes are on disk, its place; it is there whole or not at all. */
  store(scratch: string, path: string): Promise<void>;
  open(path: string): Promise<Readable>;
  remove(path: string): Promise<void>;
  /** Keeps other exports away until released. The signal ends the wait for a holder. Throws `busy_export`. */
  lock?(signal?: AbortSignal): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Writes nothing once what is asked before throws: then another export may be at work. */
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
