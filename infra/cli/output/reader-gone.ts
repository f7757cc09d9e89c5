import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';

const STDOUT = 1;

/** Calls back once standard output's reader is gone, as after `| head -1`: Node tells only at the next write. */
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
