import type { ExportTarget } from './target.ts';

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
