import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linuxProcesses, posixProcesses } from '../../../../infra/local/platform/process-table.ts';

const MARK = `--mark=${randomUUID()}`;
// It uses some CPU time, says that it runs, and keeps running. `ps` of Linux cuts CPU time down to whole seconds.
const BUSY = `for (let used; (used = process.cpuUsage()).user + used.system < 1_200_000;); console.log('up'); require('net').createServer().listen(0);`;
const child = spawn(process.execPath, ['-e', BUSY, '--', MARK, 'with spaces'], { stdio: ['ignore', 'pipe', 'ignore'] });
const pid = child.pid ?? 0;

beforeAll(async () => void (await once(child.stdout, 'data')), 120_000);
afterAll(() => child.kill('SIGKILL'));

const sources = { '/proc': linuxProcesses, ps: posixProcesses };
const here = Object.entries(sources).filter(([name]) => name === 'ps' || existsSync('/proc/self/stat'));

describe.each(here)('processes by %s', (_name, table) => {
  it('are there with a start time, memory and processor time of their own', () => {
    expect(table.isRunning(pid)).toBe(true);
    expect(table.startTimeOf(pid)).toMatch(/\d/u);
    expect(table.startTimeOf(pid)).toBe(table.startTimeOf(pid));
    const bytes = table.residentBytes(pid);
    expect(bytes).toBeGreaterThan(20 * 1024 * 1024);
    expect(bytes).toBeLessThan(1024 ** 3);
    expect(table.proportionalBytes(pid)).toBeGreaterThan(5 * 1024 * 1024);
    const ticks = [...table.cpuTicks(pid).values()].reduce((sum, one) => sum + one.ticks, 0);
    expect(ticks).toBeGreaterThanOrEqual(100);
    expect(ticks).toBeLessThan(6000);
  });

  it('are found by an argument that is exactly theirs', () => {
    expect(table.processesWithArgument(MARK)).toEqual([pid]);
    expect(table.processesWithArgument(MARK.slice(0, -1))).toEqual([]);
    expect(table.processesNaming(MARK.slice(2, -1))).toEqual([pid]);
  });

  it('are not there under an unused number', () => {
    for (const nobody of [0, -1, 2 ** 31 - 1, Number.NaN]) {
      expect(table.isRunning(nobody)).toBe(false);
      expect(table.startTimeOf(nobody)).toBeUndefined();
      expect(table.residentBytes(nobody)).toBe(0);
      expect(table.cpuTicks(nobody).size).toBe(0);
    }
  });

  it('may open some files', () => {
    expect(table.openFilesLimit()).toBeGreaterThan(100);
  });
});
