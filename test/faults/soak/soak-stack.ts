/**
 * Runs `npm start` with caches that are full within the first minute and heaps without garbage. On SIGUSR2 it and its
 * functions begin to leak, as a control.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection, type Connection } from 'mysql2';
import './collect-garbage.mjs';
import type { LocalStack } from '../../../infra/local/running/running-stack.ts';
import { serveStack, toldOptions } from '../serve-stack.ts';

/** A cache that fills for ten minutes cannot be told from a leak. */
const SMALL_CACHES = ['--innodb-buffer-pool-size=24M'];
const LEAKED_BYTES = 8 * 1024 * 1024;
const MEMORY_EVERY_MS = 250;
const CONNECTION_EVERY_MS = 500;
const PROCESS_EVERY_MS = 5000;

const options = toldOptions();
/** Functions leak as well once it exists. */
const leakFile = `${options.data}.leak`;
const collecting = new URL('collect-garbage.mjs', import.meta.url);
collecting.searchParams.set('leak', leakFile);
const functionArguments = ['--import', collecting.href];
await serveStack({ serverSize: 'full', ...options, serverArguments: SMALL_CACHES, functionArguments }, (stack) =>
  process.on('SIGUSR2', () => leak(stack)),
);

/** Takes memory, connections and processes, and releases nothing. */
function leak({ groups: { groups } }: LocalStack): void {
  writeFileSync(leakFile, '');
  const kept: (Buffer | Connection | ChildProcess)[] = [];
  setInterval(() => kept.push(Buffer.alloc(LEAKED_BYTES, 1)), MEMORY_EVERY_MS);
  setInterval(() => {
    const [group] = groups;
    if (!group) return;
    const { writerEndpoint, user, password } = group;
    const connection = createConnection({ host: writerEndpoint.host, port: writerEndpoint.port, user, password });
    connection.on('error', () => undefined);
    kept.push(connection);
  }, CONNECTION_EVERY_MS);
  // The command line names the data folder, by which the process is found when the run is cut off.
  const idle = ['--eval', 'setInterval(() => {}, 1000)', join(options.data ?? '', 'leaked')];
  setInterval(() => kept.push(spawn(process.execPath, idle, { stdio: 'ignore' })), PROCESS_EVERY_MS);
}
