import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { showProgress } from '../../../../infra/local/stack/progress.ts';

it('says what is waited for, for as long as that takes', async () => {
  const lines: string[] = [];
  const progress = showProgress((line) => lines.push(line), 40);
  const slow = progress.during('starting servers', sleep(300, 'servers'));
  expect(await progress.during('making templates', sleep(120, 'templates'))).toBe('templates');
  expect(lines).toContain('0 s: starting servers, making templates');
  lines.length = 0;
  expect(await slow).toBe('servers');
  expect(lines.at(-1)).toBe('0 s: starting servers');
  lines.length = 0;
  await sleep(100);
  expect(lines).toEqual([]);
  await expect(progress.during('failing', Promise.reject(new Error('no')))).rejects.toThrow('no');
  progress.end();
});

it('a start that takes no time says nothing', async () => {
  const lines: string[] = [];
  const progress = showProgress((line) => lines.push(line), 200);
  await progress.during('starting servers', sleep(20));
  progress.end();
  void progress.during('late', sleep(400));
  await sleep(300);
  expect(lines).toEqual([]);
});
