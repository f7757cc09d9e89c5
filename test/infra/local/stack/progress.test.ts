import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { showProgress } from '../../../../infra/local/stack/progress.ts';

const lines: string[] = [];
beforeEach(() => {
  lines.length = 0;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('says what is waited for, for as long as that takes', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const progress = showProgress((line) => lines.push(line));
  const [servers, templates] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const slow = progress.during('starting servers', servers.promise);
  const fast = progress.during('making templates', templates.promise);
  now.mockReturnValue(2000);
  vi.advanceTimersByTime(2000);
  templates.resolve('templates');
  expect(await fast).toBe('templates');
  now.mockReturnValue(4000);
  vi.advanceTimersByTime(2000);
  servers.resolve('servers');
  expect(await slow).toBe('servers');
  vi.advanceTimersByTime(2000);
  expect(lines).toEqual(['2 s: starting servers, making templates', '4 s: starting servers']);
  await expect(progress.during('failing', Promise.reject(new Error('no')))).rejects.toThrow('no');
  progress.end();
});

it('a start that takes no time says nothing', async () => {
  const progress = showProgress((line) => lines.push(line));
  const late = Promise.withResolvers<void>();
  void progress.during('late', late.promise);
  vi.advanceTimersByTime(1999);
  progress.end();
  vi.advanceTimersByTime(10_000);
  late.resolve();
  expect(lines).toEqual([]);
});
