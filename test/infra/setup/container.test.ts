import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';

const read = (file: string): string => readFileSync(join(PROJECT_ROOT, file), 'utf8');
const scripts: Readonly<Record<string, string>> = JSON.parse(read('package.json')).scripts;
const dockerfile = read('Dockerfile');

it('the container is the system that the README names, and takes the steps of its first start', () => {
  const readme = read('README.md');
  const [, debian, node] = /a fresh Debian (\d+) with Node (\d+)/u.exec(readme) ?? [];
  expect(debian).toBe('12');
  // Debian 12 is called bookworm.
  expect(dockerfile).toMatch(new RegExp(`^FROM node:${node}-bookworm$`, 'mu'));
  expect(readme).toMatch(/^npm start$/mu);
  expect(dockerfile).toContain('CMD ["npm", "start"]');
  // The command that npm runs before `npm start`.
  expect(dockerfile).toContain(`RUN ${scripts['prestart']}\n`);
});

it('the development container is made of it, and makes a checkout ready the same way', () => {
  const { build, postCreateCommand, forwardPorts } = JSON.parse(read('.devcontainer/devcontainer.json'));
  expect(existsSync(join(PROJECT_ROOT, '.devcontainer', build.dockerfile))).toBe(true);
  expect(postCreateCommand).toBe(scripts['prestart']);
  expect(forwardPorts).toEqual([4000]);
  // Files made on another system do not belong in it.
  expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['node_modules', '.local*']));
});
