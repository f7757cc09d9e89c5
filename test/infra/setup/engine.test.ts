import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EngineKind, findEngine, type InstalledEngine, requestedEngine } from '../../../infra/setup/engine.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'schemaless-engine-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the engine on this machine', () => {
  it('goes by what --version says, not by the name of the file', () => {
    program('mysqld', 'mysqld  Ver 12.3.4-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)');
    program('mariadb-install-db', '');
    expect(find('mysql')).toBeUndefined();
    expect(find('mariadb')).toMatchObject({ kind: 'mariadb', version: '12.3.4', command: [join(folder, 'mysqld')] });
  });

  it('prefers a real MySQL that is installed, and takes none that is too old', () => {
    program('mysqld', '/opt/mariadb-was-here/mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)');
    expect(find()).toMatchObject({ kind: 'mysql', version: '8.4.3' });
    program('mysqld', 'mysqld  Ver 5.7.44 for Linux on x86_64 (MySQL Community Server (GPL))');
    expect(find('mysql')).toBeUndefined();
  });

  it('reads the requested engine from the command line, then from the environment, and names errors in it', () => {
    expect(requestedEngine([], {})).toBeUndefined();
    expect(requestedEngine([], { SCHEMALESS_ENGINE: '' })).toBeUndefined();
    expect(requestedEngine([], { SCHEMALESS_ENGINE: 'mysql' })).toBe('mysql');
    expect(requestedEngine(['--engine'], { SCHEMALESS_ENGINE: 'mysql' })).toBe('mysql');
    expect(requestedEngine(['--port', '1', '--engine', 'mariadb'], { SCHEMALESS_ENGINE: 'mysql' })).toBe('mariadb');
    expect(requestedEngine(['--engine=mysql'], {})).toBe('mysql');
    expect(() => requestedEngine(['--engine=oracle'], {})).toThrow('--engine: wanted mysql or mariadb, got "oracle"');
    expect(() => requestedEngine([], { SCHEMALESS_ENGINE: 'MySQL' })).toThrow(
      'SCHEMALESS_ENGINE: wanted mysql or mariadb, got "MySQL"',
    );
  });
});

function find(desired?: EngineKind): InstalledEngine | undefined {
  return findEngine({ desired, env: { PATH: folder, XDG_CACHE_HOME: folder }, folders: [] });
}

function program(name: string, says: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\necho '${says}'\n`);
  chmodSync(join(folder, name), 0o755);
}
