import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';

const STDOUT = 1;

/**
 * Calls back once nobody reads standard output, as after `| head -1`: a write that would tell may be long in coming,
 * and Node cannot ask. GNU `tail` ends with SIGPIPE then; without it the next write tells.
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
