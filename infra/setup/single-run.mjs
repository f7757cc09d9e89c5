import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const POLL_MS = 200;
/** An owner that died before it wrote its process id leaves an empty folder, respected for this long. */
const NAMELESS_MS = 5000;

/** See `single-run.d.mts`. It takes over the lock of a dead process. */
export async function singleRun(task, work) {
  const user = process.getuid?.() ?? 0;
  const folder = join(
    tmpdir(),
    `schemaless-${user}-${createHash('sha256').update(task).digest('hex').slice(0, 16)}.lock`,
  );
  while (!take(folder)) {
    if (isStale(folder)) rmSync(folder, { recursive: true, force: true });
    else
      await new Promise((resolve) => {
        setTimeout(resolve, POLL_MS);
      });
  }
  try {
    return await work();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function take(folder) {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(folder, 'pid'), String(process.pid));
  return true;
}

function isStale(folder) {
  let pid = Number.NaN;
  try {
    pid = Number(readFileSync(join(folder, 'pid'), 'utf8') || Number.NaN);
  } catch {
    // Not written yet, or just released.
  }
  if (Number.isNaN(pid)) {
    try {
      return Date.now() - statSync(folder).mtimeMs > NAMELESS_MS;
    } catch {
      return false;
    }
  }
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
