/**
 * Has a process collect its garbage now and then, whole: what it takes then is what it needs. Left to itself a heap is
 * collected so late, and grows with the load of the machine, that its size says nothing of leaks for many minutes.
 *
 * Imported with `?leak=FILE` it begins to leak, as a control, once there is that file.
 */
import { existsSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const EVERY_MS = 15_000;
const LEAK_EVERY_MS = 250;
const LEAKED_BYTES = 512 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
setInterval(() => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' }), EVERY_MS).unref();

const leak = new URL(import.meta.url).searchParams.get('leak');
if (leak !== null) {
  const kept = [];
  setInterval(() => {
    if (existsSync(leak)) kept.push(Buffer.alloc(LEAKED_BYTES, 1));
  }, LEAK_EVERY_MS).unref();
}
