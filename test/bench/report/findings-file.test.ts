import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Plot } from '../bench.ts';
import { FORMAT } from './findings.ts';
import { keepFindings, readFindings } from './findings-file.ts';

const [MYSQL, MARIADB, NODE] = ['MySQL 8.0.40', 'MariaDB 10.11.6', 'Node 24.21.0'];
const LINES = [{ name: 'p50', points: [[1, 2] as const] }];
const PLOTS: readonly Plot[] = [{ kind: 'lines', title: 'Latency', x: 'cells', y: 'ms', logX: true, lines: LINES }];

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'schemaless-findings-'));
  file = join(folder, 'findings.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A run of benches, each with one figure. @param on what the row was measured on */
function ran(engine: string, figures: Record<string, string>, on = engine): void {
  const benches = Object.entries(figures).map(([name, figure]) => {
    const row = { what: name, figure, bar: 'printed', passed: true, engine: on };
    return { name, what: name, seconds: 1, measured: [row], plots: PLOTS };
  });
  const run = {
    engine,
    seed: '42',
    node: '24.21.0',
    cpu: { model: 'CPU', count: 2 },
    started_at: '2026-01-31T08:00:00.000Z',
  };
  keepFindings(file, { format: FORMAT, ...run, seconds: 20, complete: true, benches }, ['store', 'shards', 'codec']);
}

it('keeps what other runs found, but for the same bench on the same engine, of an older version too', () => {
  ran('MySQL 8.0.36', { 'of old': '0', shards: '1', store: '2' });
  ran(MARIADB, { store: '3' });
  ran(MARIADB, { codec: '4' }, NODE);
  ran(MYSQL, { codec: '5' }, NODE);
  ran(MYSQL, { store: '6' });
  const kept = readFindings(file).map(({ name, run, measured }) => `${name}, ${run.engine}: ${measured[0]?.figure}`);
  const others = ['shards, MySQL 8.0.36: 1', `codec, ${MYSQL}: 5`, 'of old, MySQL 8.0.36: 0'];
  expect(kept).toEqual([`store, ${MYSQL}: 6`, `store, ${MARIADB}: 3`, ...others]);
  expect(readFindings(file).map(({ plots }) => plots)).toEqual(kept.map(() => PLOTS));
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(kept.length + 2);
});

it.each([
  ['no JSON', () => '# Notes\n', /holds no findings: SyntaxError/],
  ['another format', (text: string) => text.replace('"format":1', '"format":2'), /expected 1.*at format/s],
  ['a figure that is no text', (text: string) => text.replace('"figure":"2"', '"figure":2'), /measured\[0\]\.figure/],
])('leaves a file as it is that holds %s', (_what, change, message) => {
  ran(MYSQL, { store: '2' });
  const broken = change(readFileSync(file, 'utf8'));
  writeFileSync(file, broken);
  for (const said of [message, 'Delete it, or name another file.'])
    expect(() => ran(MYSQL, { store: '3' })).toThrow(said);
  expect(readFileSync(file, 'utf8')).toBe(broken);
});
