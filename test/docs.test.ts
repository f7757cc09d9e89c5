import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { arrows, circle, diagram, upwards } from '../infra/docs/imports.ts';
import { INFRA_ROOMS, ROOMS } from '../infra/docs/rooms.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGES = globSync(['*.md', '{shared,functions,infra,test}/**/*.md'], {
  cwd: ROOT,
  exclude: ['**/node_modules/**'],
}).sort();
const ARCHITECTURE = read('infra/docs/architecture.md');

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** Removes blocks of code, whose comments look like headings. */
function prose(text: string): string {
  return text.replaceAll(/^ *```.*?^ *```/gmsu, '');
}

/** As GitHub makes them; a heading that comes again gets a number. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose(text).matchAll(/^#{1,6} +(.+)$/gmu)) {
    const shown = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1');
    const anchor = shown
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    let [name, times] = [anchor, 0];
    while (anchors.has(name)) name = `${anchor}-${(times += 1)}`;
    anchors.add(name);
  }
  return anchors;
}

/** Targets of links and pictures, but for those of other sites. */
function linksOf(text: string): readonly string[] {
  const targets = [
    ...prose(text)
      .replaceAll(/`[^`]*`/gu, '`')
      .matchAll(/\]\(([^)\s]+)\)/gu),
  ].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z]+:/u.test(target));
}

/** Why a link leads nowhere. */
function whyBroken(page: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (relative(ROOT, join(ROOT, file)).startsWith('..')) return `${target}: is outside of the repository`;
  if (!existsSync(join(ROOT, file))) return `${target}: there is no ${file}`;
  if (anchor !== undefined && !anchorsOf(read(file)).has(anchor)) return `${target}: ${file} has no such heading`;
  return undefined;
}

/** Returns the paths of files and folders in backticks, except those with a placeholder in capitals. */
function pathsOf(text: string): readonly string[] {
  const codes = [...prose(text).matchAll(/`([^`\n]+)`/gu)].map(([, code = '']) => code);
  return codes.filter(
    (code) => /^\.?[\w-]+\/[\w./-]*$|^[\w.-]+\.(?:ts|mjs|md|json|yaml)$/u.test(code) && !/[A-Z]{4}/u.test(code),
  );
}

describe('the links', () => {
  it('are checked in every document', () => {
    expect(PAGES).toEqual(
      expect.arrayContaining([
        'CHANGELOG.md',
        'CONTRIBUTING.md',
        'README.md',
        'infra/docs/api.md',
        'infra/docs/operations/runbook.md',
      ]),
    );
    expect(linksOf(read('README.md')).length).toBeGreaterThan(10);
  });

  it.each(PAGES)('of %s lead somewhere', (page) => {
    expect(linksOf(read(page)).flatMap((target) => whyBroken(page, target) ?? [])).toEqual([]);
  });

  it('are found broken where they are', () => {
    expect(whyBroken('infra/docs/api.md', '#limits')).toBeUndefined();
    expect(whyBroken('infra/docs/api.md', '#limit')).toBe('#limit: infra/docs/api.md has no such heading');
    expect(whyBroken('infra/docs/api.md', 'README.md')).toBe('README.md: there is no infra/docs/README.md');
    expect(whyBroken('README.md', '../not-this-one')).toBe('../not-this-one: is outside of the repository');
    expect(linksOf('[a](b.md#c) `[d](e)` ![f](g.svg) [h](https://i.example)\n```sh\n[j](k)\n```\n')).toEqual([
      'b.md#c',
      'g.svg',
    ]);
    expect([...anchorsOf('# A `b`: c?\n```sh\n# no heading\n```\n## D\n## D\n')]).toEqual(['a-b-c', 'd', 'd-1']);
  });

  it('lead to every page, from the README', () => {
    const linked = linksOf(read('README.md')).map((target) => target.split('#')[0]);
    expect(PAGES.filter((page) => page !== 'README.md' && !linked.includes(page))).toEqual([]);
  });
});

describe('the architecture', () => {
  it.each(['infra/docs/architecture.md', 'CONTRIBUTING.md'])('of %s names files that there are', (page) => {
    const paths = pathsOf(read(page));
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('has twelve questions with a file for each in CONTRIBUTING', () => {
    const [, table = ''] = /^## Twelve questions\n(.*?)^## /msu.exec(read('CONTRIBUTING.md')) ?? [];
    const rows = [...table.matchAll(/^\| .*\? \| (.*) \|$/gmu)].map(([, files = '']) => pathsOf(files));
    expect(rows).toHaveLength(12);
    expect(rows.filter((files) => files.length === 0 || !files.every((file) => existsSync(join(ROOT, file))))).toEqual(
      [],
    );
  });

  it('tells a path from other code', () => {
    expect(
      pathsOf(
        '`shared/cell.ts` `infra/` `package.json` `.ci/run` `stored` `npm test -- a/b.ts` `test/faults/NAME/` `GET /v1/x`',
      ),
    ).toEqual(['shared/cell.ts', 'infra/', 'package.json', '.ci/run']);
  });

  it('has the rooms of shared, and draws the arrows that there are', () => {
    const [, drawn = ''] = /^```mermaid\n(.*?)^```/msu.exec(ARCHITECTURE) ?? [];
    expect(drawn, 'replace it by what npm run imports prints').toBe(diagram());
    for (const { path, holds } of ROOMS.filter((room) => room.path !== ''))
      expect(ARCHITECTURE).toContain(`| \`shared/${path}/\` | ${holds} |`);
  });
});

describe('the order of imports', () => {
  it('holds in shared and infra, without circles', () => {
    expect(upwards(arrows('shared', ROOMS), ROOMS)).toEqual([]);
    expect(upwards(arrows('infra', INFRA_ROOMS), INFRA_ROOMS)).toEqual([]);
    expect(circle()).toBeUndefined();
  });

  it('finds an arrow against it, and a circle', () => {
    const imports = new Map([
      ['shared/sql/a.ts', ['shared/store/b.ts']],
      ['shared/store/b.ts', ['shared/cell.ts', 'shared/store/c.ts']],
      ['shared/store/c.ts', ['shared/sql/a.ts']],
    ]);
    expect(upwards(arrows('shared', ROOMS, imports), ROOMS)).toEqual([{ from: 'sql', to: 'store' }]);
    expect(circle(imports)).toEqual(['shared/sql/a.ts', 'shared/store/b.ts', 'shared/store/c.ts']);
  });
});
