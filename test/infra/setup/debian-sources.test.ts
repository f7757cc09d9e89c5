import { describe, expect, it } from 'vitest';
// @ts-expect-error plain JavaScript that runs before anything is installed
import { suiteOfSources } from '../../../infra/setup/debian-sources.mjs';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writeFiles } from '../support/write-files.ts';

/** The source of sid that these files of the machine's own sources give. */
function sidOf(files: Readonly<Record<string, string>>): unknown {
  using folder = temporaryFolder();
  return suiteOfSources(writeFiles(folder.path, files), 'bookworm', 'sid');
}

describe("the machine's own Debian source, for another suite", () => {
  it('is made from a stanza, with its keys', () => {
    const system = [
      '# the system\nTypes: deb deb-src\nURIs: http://mirror.test/debian\nSuites: bookworm bookworm-updates',
      'Components: main contrib\nSigned-By: /usr/share/keyrings/some.gpg\n',
      'Types: deb\nURIs: http://mirror.test/security\nSuites: bookworm-security\nComponents: main\n',
    ];
    const other = 'Types: deb\nURIs: http://other.test/x\nSuites: stable\nComponents: main\n';
    expect(
      sidOf({ 'sources.list.d/other.sources': other, 'sources.list.d/system.sources': system.join('\n') }),
    ).toEqual({
      file: 'other.sources',
      text: 'Types: deb\nURIs: http://mirror.test/debian\nSuites: sid\nComponents: main\nSigned-By: /usr/share/keyrings/some.gpg\n',
    });
  });

  it('is made from a line, with its options', () => {
    const sources =
      '# deb http://no.test bookworm main\ndeb http://sec.test bookworm-security main\ndeb [arch=amd64 signed-by=/k.gpg] http://m.test/debian bookworm main non-free\n';
    expect(sidOf({ 'sources.list': sources })).toEqual({
      file: 'other.list',
      text: 'deb [arch=amd64 signed-by=/k.gpg] http://m.test/debian sid main\n',
    });
  });

  it('is not there when no source has main of this release', () => {
    expect(sidOf({ 'sources.list': 'deb http://m.test/debian bookworm contrib\n' })).toBeUndefined();
  });
});
