import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a browser by a private file, since all users can read arguments. Disposing deletes the file. */
export function openBrowser(address: string): Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'schemaless-console-'));
  const file = join(folder, 'open.html');
  writeFileSync(file, `<meta http-equiv="refresh" content="0;url=${address}">\n`, { mode: 0o600 });
  const [program, ...parameters] = OPENERS[process.platform] ?? ['xdg-open'];
  spawn(program, [...parameters, file], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
  return { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
