import { mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Node 20 has no such cache, and types that say that there is one. */
const { enableCompileCache, flushCompileCache }: Partial<typeof module> = module;

export function keepCompiled(): void {
  const folder = ownFolder();
  if (folder !== undefined) enableCompileCache?.(folder);
}

/** Writes down what was compiled so far: a process that is killed leaves it, too. */
export function writeCompiled(): void {
  flushCompileCache?.();
}

/** Returns a folder that only this user can write to, as its content is executed; undefined if there is none. */
export function ownFolder(base = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')): string | undefined {
  const folder = join(base, 'schemaless', 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    const isOwn = process.platform === 'win32' || (uid === userInfo().uid && (mode & 0o077) === 0);
    return isOwn ? folder : undefined;
  } catch {
    return undefined;
  }
}
