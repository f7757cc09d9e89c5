import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BenchReport } from './findings.ts';
import { checkWritable, rewritePage, sectionsIn } from './report-file.ts';
import { sampleBench, sampleRun } from './sample-findings.ts';

const [MYSQL, MARIADB, NODE] = ['MySQL 8.0.40', 'MariaDB 10.11.6', 'Node 24.21.0'];
const ORDER = ['store', 'shards', 'codec'];

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'schemaless-report-'));
  file = join(folder, 'report.html');
});
afterEach(() => rmSync(folder, { recursive: true }));

function ran(engine: string, ...benches: readonly BenchReport[]): void {
  rewritePage(file, sampleRun(engine, ...benches), ORDER);
}

/** "store, MySQL 8.0.40: 0.91" of each section, in its order. */
function kept(): readonly string[] {
  return sectionsIn(file).map(({ name, run, measured }) => `${name}, ${run.engine}: ${measured[0]?.figure}`);
}

describe('a second run', () => {
  it('replaces its own findings, of an older version too, and keeps those of other engines and benches', () => {
    ran('MySQL 8.0.36', sampleBench('shards', MYSQL, '1'), sampleBench('store', MYSQL, '2'));
    ran(MARIADB, sampleBench('store', MARIADB, '3'));
    ran(MYSQL, sampleBench('store', MYSQL, '4'));
    expect(kept()).toEqual([`store, ${MYSQL}: 4`, `store, ${MARIADB}: 3`, 'shards, MySQL 8.0.36: 1']);
    expect(readFileSync(file, 'utf8').match(/<td>[0-9]<\/td>/g)).toEqual(['<td>4</td>', '<td>3</td>', '<td>1</td>']);
  });

  it('replaces what was measured without an engine, whatever engine it was given', () => {
    ran(MYSQL, sampleBench('codec', NODE, '1'));
    ran(MARIADB, sampleBench('codec', NODE, '2'));
    expect(kept()).toEqual([`codec, ${MARIADB}: 2`]);
  });

  it('keeps what it does not know, at the end', () => {
    ran(MYSQL, sampleBench('of old', MYSQL));
    ran(MYSQL, sampleBench('codec', NODE), sampleBench('store', MYSQL));
    expect(kept().map((text) => text.split(',')[0])).toEqual(['store', 'codec', 'of old']);
  });

  it('keeps plots as they were', () => {
    ran(MYSQL, sampleBench('store', MYSQL));
    ran(MARIADB, sampleBench('store', MARIADB));
    expect(sectionsIn(file)[0]?.plots).toEqual(sampleBench('store', MYSQL).plots);
  });
});

describe('a page that is there already', () => {
  it.each([
    ['no page of findings', () => '# Notes\n', /no findings are in it/],
    ['one that was cut off', (text: string) => text.slice(0, text.lastIndexOf('</script>')), /cut off/],
    ['broken JSON', (text: string) => text.replace('"sections":', 'sections:'), /broken/],
    ['another format', (text: string) => text.replace('"format":1', '"format":2'), /not of format 1/],
    ['a figure that is no text', (text: string) => text.replace('"figure":"0.91"', '"figure":0.91'), /measured\[0\]\.figure/],
  ])('is left as it is when it is %s', (_what, change, message) => {
    ran(MYSQL, sampleBench('store', MYSQL));
    const broken = change(readFileSync(file, 'utf8'));
    writeFileSync(file, broken);
    expect(() => ran(MYSQL, sampleBench('store', MYSQL))).toThrow(message);
    expect(() => sectionsIn(file)).toThrow(`${file} cannot be rewritten`);
    expect(() => sectionsIn(file)).toThrow('Delete it, or name another file with --report.');
    expect(readFileSync(file, 'utf8')).toBe(broken);
  });
});

describe('whether a file can be written', () => {
  it('is known without making or changing it', () => {
    checkWritable(file);
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, 'text');
    checkWritable(file);
    expect(readFileSync(file, 'utf8')).toBe('text');
  });

  it.each([['a folder', '.'], ['in a folder that is not there', 'none/report.html']])('is refused: %s', (_what, place) => {
    expect(() => checkWritable(join(folder, place))).toThrow(/Wanted a file that can be written, got .+: E/);
  });
});
