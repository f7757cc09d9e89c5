import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** Replaces the assembly, except bundles in use, which are named by their content. */
export function replaceAssembly(next: string, folder: string, inUse: readonly string[]): void {
  const kept = new Set(inUse.map((path) => relative(folder, path).split(sep)[0]));
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder))
    if (!kept.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  for (const name of readdirSync(next))
    if (!existsSync(join(folder, name))) renameSync(join(next, name), join(folder, name));
}
