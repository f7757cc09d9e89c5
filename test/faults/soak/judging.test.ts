import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { growthOf, keepsConnections, keepsMemory, keepsProcesses } from './judge-samples.ts';
import { processTree } from '../../support/processes/process-tree.ts';
import type { Sample } from './watch-stack.ts';

const sample = (
  seconds: number,
  functionBytes: number,
  connections: number | undefined = 40,
  processes = 12,
): Sample => ({ seconds, functionBytes, stackBytes: 0, serverBytes: 7 * seconds, processes, connections });
/** Three minutes, a sample each second. */
const samples = (bytesAt: (second: number) => number): Sample[] =>
  Array.from({ length: 180 }, (_, second) => sample(second, bytesAt(second)));

test('memory of the last minute is held against that of the second', () => {
  const steady = growthOf(
    samples((second) => (second < 60 ? 500 : 1000)),
    180,
    60,
    sample(180, 1000),
  );
  expect(steady).toMatchObject({ earlyBytes: 1000, lateBytes: 1000 });
  expect(keepsMemory(steady)).toBe(true);
  expect(
    keepsMemory(
      growthOf(
        samples((second) => 1000 + second),
        180,
        60,
        sample(180, 1000),
      ),
    ),
  ).toBe(true);
  expect(
    keepsMemory(
      growthOf(
        samples((second) => 1000 + 3 * second),
        180,
        60,
        sample(180, 1000),
      ),
    ),
  ).toBe(false);
});

test('a moment in which a server is away does not count, and nothing at all is no success', () => {
  expect(
    growthOf(
      samples((second) => (second % 60 < 20 ? 700 : 1000)),
      180,
      60,
      sample(180, 1000),
    ),
  ).toMatchObject({ earlyBytes: 1000, lateBytes: 1000 });
  expect(keepsMemory(growthOf([], 180, 60, sample(180, 1000)))).toBe(false);
});

test('connections and processes may be a few more in the end', () => {
  const end = (connections: number | undefined, processes: number) =>
    growthOf(
      samples(() => 1000),
      180,
      60,
      sample(180, 1000, connections, processes),
    );
  expect(keepsConnections(end(56, 12))).toBe(true);
  expect(keepsConnections(end(57, 12))).toBe(false);
  expect(keepsProcesses(end(40, 14))).toBe(true);
  expect(keepsProcesses(end(40, 15))).toBe(false);
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
