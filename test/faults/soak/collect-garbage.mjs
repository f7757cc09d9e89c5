/**
 * Has a process collect its garbage now and then, whole: what it takes then is what it needs. Left to itself a heap is
 * collected so late, and grows with the load of the machine, that its size says nothing of leaks for many minutes.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const EVERY_MS = 15_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
setInterval(() => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' }), EVERY_MS).unref();
