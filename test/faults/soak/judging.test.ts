import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { CONNECTIONS, FUNCTION_MEMORY, growthOf, PROCESSES, STACK_MEMORY } from './judge-samples.ts';
import { processTree } from '../../support/processes/process-tree.ts';
import type { Sample } from './watch-stack.ts';

const sample = (seconds: number, bytes: number, connections: number | undefined = 40, processes = 12): Sample => ({
  seconds,
  stackBytes: 2 * bytes,
  // One more with each minute.
  functionBytes: bytes * (3 + Math.floor(seconds / 60)),
  functions: 3 + Math.floor(seconds / 60),
  serverBytes: 7 * seconds,
  processes,
  connections,
});
/** Three minutes, a sample each second, and one in the end. */
const growth = (bytesAt: (second: number) => number, end = sample(180, 1000)) => {
  const samples = Array.from({ length: 180 }, (_, second) => sample(second, bytesAt(second)));
  return growthOf(samples, 180, 60, end);
};

test('memory of the last minute is compared with that of the second', () => {
  const steady = growth((second) => (second < 60 ? 500 : 1000));
  expect(steady).toMatchObject({ early: { stack: 2000, aFunction: 1000 }, late: { stack: 2000, aFunction: 1000 } });
  for (const { holds } of [STACK_MEMORY, FUNCTION_MEMORY]) {
    expect(holds(steady)).toBe(true);
    expect(holds(growth((second) => 1000 + second))).toBe(true);
    expect(holds(growth((second) => 1000 + 3 * second))).toBe(false);
  }
});

test('a moment without a server does not count, and no samples at all are no success', () => {
  const gaps = growth((second) => (second % 60 < 20 ? 700 : 1000));
  expect(gaps).toMatchObject({ early: { stack: 2000, aFunction: 1000 }, late: { stack: 2000, aFunction: 1000 } });
  for (const { holds } of [STACK_MEMORY, FUNCTION_MEMORY])
    expect(holds(growthOf([], 180, 60, sample(180, 1000)))).toBe(false);
});

test('connections and processes may be a few more in the end', () => {
  const end = (connections: number | undefined, processes: number) =>
    growth(() => 1000, sample(180, 1000, connections, processes));
  expect(CONNECTIONS.holds(end(56, 12))).toBe(true);
  expect(CONNECTIONS.holds(end(57, 12))).toBe(false);
  expect(PROCESSES.holds(end(40, 14))).toBe(true);
  expect(PROCESSES.holds(end(40, 15))).toBe(false);
});

test('a tree holds a process, those it started, and those that they did', async () => {
  const child = spawn('sh', ['-c', 'sleep 30 & echo started; wait'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  await once(child.stdout, 'data');
  const tree = processTree(process.pid);
  expect(tree[0]).toMatchObject({ pid: process.pid });
  expect(tree[0]?.residentBytes).toBeGreaterThan(1_000_000);
  expect(tree.map(({ pid }) => pid)).toContain(child.pid);
  // Until it has become what it is to be.
  await expect.poll(() => processTree(child.pid ?? 0).map(({ name }) => name)).toEqual(['sh', 'sleep']);
  process.kill(-(child.pid ?? 0), 'SIGKILL');
});
