import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
// @ts-expect-error plain JavaScript that runs before anything is installed
import { suiteOfSources } from '../../../infra/setup/debian-sources.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'schemaless-sources-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the machine's own Debian source, for another suite", () => {
  it('is made from a stanza, with its keys', () => {
    write('sources.list.d/other.sources', 'Types: deb\nURIs: http://other.test/x\nSuites: stable\nComponents: main\n');
    write(
      'sources.list.d/system.sources',
      [
        '# the system',
        'Types: deb deb-src',
        'URIs: http://mirror.test/debian',
        'Suites: bookworm bookworm-updates',
        'Components: main contrib',
        'Signed-By: /usr/share/keyrings/some.gpg',
        '',
        'Types: deb',
        'URIs: http://mirror.test/security',
        'Suites: bookworm-security',
        'Components: main',
        '',
      ].join('\n'),
    );
    expect(suiteOfSources(folder, 'bookworm', 'sid')).toEqual({
      file: 'other.sources',
      text: 'Types: deb\nURIs: http://mirror.test/debian\nSuites: sid\nComponents: main\nSigned-By: /usr/share/keyrings/some.gpg\n',
    });
  });

  it('is made from a line, with its options', () => {
    write(
      'sources.list',
      '# deb http://no.test bookworm main\ndeb http://sec.test bookworm-security main\ndeb [arch=amd64 signed-by=/k.gpg] http://m.test/debian bookworm main non-free\n',
    );
    expect(suiteOfSources(folder, 'bookworm', 'sid')).toEqual({
      file: 'other.list',
      text: 'deb [arch=amd64 signed-by=/k.gpg] http://m.test/debian sid main\n',
    });
  });

  it('is not there when no source has main of this release', () => {
    write('sources.list', 'deb http://m.test/debian bookworm contrib\n');
    expect(suiteOfSources(folder, 'bookworm', 'sid')).toBeUndefined();
  });
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}
