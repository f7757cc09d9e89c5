import { mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Node 20 lacks this cache, although its types have it. */
const { enableCompileCache, flushCompileCache }: Partial<typeof module> = module;

export function keepCompiled(): void {
  const folder = ownFolder();
  if (folder !== undefined) enableCompileCache?.(folder);
}

/** Writes the code compiled so far, so that a killed process also leaves it. */
export function writeCompiled(): void {
  flushCompileCache?.();
}

/** Returns a folder that only this user can write to, since its content runs; undefined if there is none. */
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
