import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';

const STDOUT = 1;

/**
 * Calls back when nobody reads standard output any more, as after `| head -1`, so that who waits for more to write does
 * not wait for ever. A write would tell, but there may be none for long, and Node cannot ask. GNU `tail` can: it ends
 * with SIGPIPE then. Where there is no such `tail`, the next write tells.
 */
export function onReaderGone(callback: () => void): void {
  if (process.platform !== 'linux' || !fstatSync(STDOUT).isFIFO()) return;
  const watcher = spawn('tail', [`--pid=${process.pid}`, '-f', '/dev/null'], {
    stdio: ['ignore', 'inherit', 'ignore'],
  });
  watcher.on('error', () => undefined);
  watcher.on('exit', (_code, signal) => {
    if (signal === 'SIGPIPE') callback();
  });
  // It would keep the pipe open behind this process.
  process.on('exit', () => watcher.kill());
  watcher.unref();
}
