import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { TriggerDefinition } from '../../../shared/definitions/definitions.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { temporaryFolder } from '../../infra/support/temporary-folder.ts';
import { definitionsFolder } from './definitions-folder.ts';

const folder = definitionsFolder();
const project = temporaryFolder();
mkdirSync(join(project.path, 'functions'));
writeFileSync(join(project.path, 'functions/bill.ts'), '');
afterAll(() => project[Symbol.dispose]());
beforeEach(() => folder.write('trips/datastore.yaml', 'datastore: trips\nshards: 4\n'));

const HEAD = 'trigger: bill\ndatastore: trips\n';
const COLUMNS = 'columns: [BASE]\n';
const FILLED = { start: 'start', maxAttempts: 5, stopAfterParked: 100, timeoutSeconds: 30 } as const;

const write = (text: string, file = 'bill.yaml'): void => folder.write(`trips/triggers/${file}`, text);
const triggers = (): readonly TriggerDefinition[] | undefined =>
  loadDefinitions(folder.path, undefined, project.path).datastores[0]?.triggers;
const problems = () => folder.problems(triggers);

describe('the triggers of a datastore', () => {
  it('are read in the order of their names, with defaults', () => {
    write(`${HEAD}${COLUMNS}`);
    write("trigger: all\ndatastore: trips\ncolumns: '*'\nretry_parked_every: never\n", 'all.yaml');
    write('', '.hidden');
    expect(triggers()).toEqual([
      { name: 'all', ...FILLED },
      { name: 'bill', columns: ['BASE'], ...FILLED, retryParkedEveryMs: 600_000 },
    ]);
  });

  it('take every key', () => {
    write(
      `${HEAD}columns:\n  - BASE\n  - FARE ADJUSTMENT\nfunction: functions/bill.ts\nstart: 2026-01-31T09:00:00+01:00\nmax_attempts: 1\nstop_after_parked: 10000\nretry_parked_every: 2h\ntimeout: 10m\n`,
    );
    expect(triggers()).toEqual([
      {
        name: 'bill',
        columns: ['BASE', 'FARE ADJUSTMENT'],
        function: 'functions/bill.ts',
        start: { since: '2026-01-31T08:00:00.000000Z' },
        maxAttempts: 1,
        stopAfterParked: 10_000,
        retryParkedEveryMs: 7_200_000,
        timeoutSeconds: 600,
      },
    ]);
  });

  it.each<[string, Partial<TriggerDefinition>]>([
    ['start: 0', { start: 'start' }],
    ['start: now', { start: 'now' }],
    ['retry_parked_every: 500ms', { retryParkedEveryMs: 500 }],
    ['retry_parked_every: 30s', { retryParkedEveryMs: 30_000 }],
    ['retry_parked_every: 10m', { retryParkedEveryMs: 600_000 }],
    ['retry_parked_every: 1d', { retryParkedEveryMs: 86_400_000 }],
    ['timeout: 1000ms', { timeoutSeconds: 1 }],
    [`columns: [${'é'.repeat(127)}x]`, { columns: [`${'é'.repeat(127)}x`] }],
  ])('take %.40s', (line, wanted) => {
    write(`${HEAD}${line.startsWith('columns') ? '' : COLUMNS}${line}\n`);
    expect(triggers()).toMatchObject([wanted]);
  });

  const named = (name: string): string => `trigger: ${name}\ndatastore: trips\n${COLUMNS}`;
  const A_NAME = 'trigger: wanted a name of 1 to 48 of a-z, 0-9 and _ that starts with a letter';
  const A_PATH = "function: wanted the path of a file from the project's root";
  const MANY = 'since each attempt counts as a receipt of the cells behind it';
  const EACH = "columns[0]: wanted a column name; for every column say columns: '*'";
  const KEYS =
    'trigger, datastore, columns, function, start, max_attempts, stop_after_parked, retry_parked_every, timeout';
  const A_CALL = 'timeout: wanted a time from 1s to 10m in whole seconds, like 30s or 2m';
  const third = (text: string): string => `${HEAD}${text}\n`;
  const fourth = (text: string): string => `${HEAD}${COLUMNS}${text}\n`;
  /** A whole file; the line of its problem; how its message begins, and how it ends. */
  it.each<[string, number, string, string]>([
    [named('bill_rider'), 1, 'trigger: wanted "bill", the name of its file', 'got "bill_rider"'],
    [`datastore: trips\n${COLUMNS}`, 1, A_NAME, 'got nothing'],
    [named('Bill'), 1, A_NAME, 'got "Bill"'],
    [named('b'.repeat(49)), 1, A_NAME, ''],
    [`trigger: bill\ndatastore: rides\n${COLUMNS}`, 2, 'datastore: wanted "trips", the name of its folder', '"rides"'],
    [HEAD, 1, "columns: wanted a list of column names, or '*' for every column", 'got nothing'],
    [`${HEAD}columns:\n  - BASE\n  - ''\n`, 5, 'columns[1]: wanted text of 1 to 255 bytes', 'got ""'],
    [`${HEAD}columns: [A,\n  B,\n  A]\n`, 5, 'columns[2]: wanted each column once, got "A" again', 'which line 3 has'],
    [
      `${HEAD}${COLUMNS}function: functions/bill.ts\nmax_attempts: 101\n`,
      5,
      `max_attempts: wanted a whole number from 1 to 100 with a function, ${MANY}`,
      'got 101',
    ],
    ['- bill\n', 1, 'wanted a mapping', ''],
    [third('columns: []'), 3, 'columns: wanted a list of column names', 'got an empty list'],
    [third('columns: BASE'), 3, 'columns: wanted a list', 'got "BASE"'],
    [third(`columns: [${'é'.repeat(128)}]`), 3, 'columns[0]: wanted text of 1 to 255 bytes', ''],
    [third('columns: [7]'), 3, 'columns[0]: wanted text of 1 to 255 bytes', 'got 7'],
    [third(`columns: ['*']`), 3, EACH, ''],
    [fourth('retries: 3'), 4, `unknown key "retries": wanted one of ${KEYS}`, ''],
    [fourth('function: functions/gone.ts'), 4, 'function: wanted a file of the project in', 'got "functions/gone.ts"'],
    [fourth('function: functions'), 4, 'function: wanted a file of the project', ''],
    [fourth('function: functions/../../bill.ts'), 4, A_PATH, ''],
    [fourth('function: /bill.ts'), 4, A_PATH, ''],
    [fourth('function:'), 4, 'function: wanted the path of a file', 'got null'],
    [fourth('start: 7'), 4, 'start: wanted 0 for the start of the logs, now, or a time with zone', 'got 7'],
    [fourth('start: 2026-01-31T08:00:00'), 4, 'start: wanted', 'got "2026-01-31T08:00:00"'],
    [fourth('max_attempts: 0'), 4, 'max_attempts: wanted a whole number from 1 to 1000', 'got 0'],
    [fourth('max_attempts: 1001'), 4, 'max_attempts:', 'got 1001'],
    [fourth('max_attempts: 1.5'), 4, 'max_attempts:', 'got 1.5'],
    [fourth('stop_after_parked: 0'), 4, 'stop_after_parked: wanted a whole number from 1 to 10000', 'got 0'],
    [fourth('stop_after_parked: 10001'), 4, 'stop_after_parked:', 'got 10001'],
    [fourth('retry_parked_every: 10'), 4, 'retry_parked_every: wanted a time from 500ms to 30d', 'or never, got 10'],
    [fourth('retry_parked_every: 10 minutes'), 4, 'retry_parked_every:', 'got "10 minutes"'],
    [fourth('retry_parked_every: 499ms'), 4, 'retry_parked_every: wanted a time from 500ms', ''],
    [fourth('retry_parked_every: 31d'), 4, 'retry_parked_every: wanted a time from 500ms to 30d', ''],
    [fourth('timeout: 1500ms'), 4, A_CALL, 'got "1500ms"'],
    [fourth('timeout: 0s'), 4, A_CALL, 'got "0s"'],
    [fourth('timeout: 11m'), 4, A_CALL, 'got "11m"'],
    [fourth('timeout: never'), 4, A_CALL, 'got "never"'],
  ])('are refused as %j, with line %i', (text, line, start, end) => {
    write(text);
    const found = problems();
    expect(found).toMatchObject([{ file: 'trips/triggers/bill.yaml', line }]);
    expect(found[0]?.message.slice(0, start.length)).toBe(start);
    expect(found[0]?.message.endsWith(end), found[0]?.message).toBe(true);
  });

  it('have all problems of one file named at once', () => {
    write(
      `${HEAD}columns:\n  - 7\n  - ''\n  - BASE\n  - BASE\nfunction: functions/gone.ts\nmax_attempts: 1001\ntimout: 3s\n`,
    );
    expect(problems().map(({ line, message }) => `${line}: ${message.replace(/,.*got /u, ' … got ')}`)).toEqual([
      '4: columns[0]: wanted text of 1 to 255 bytes … got 7',
      '5: columns[1]: wanted text of 1 to 255 bytes … got ""',
      '7: columns[3]: wanted each column once … got "BASE" again, which line 6 has',
      expect.stringMatching(/^8: function: wanted a file of the project in/u),
      '9: max_attempts: wanted a whole number from 1 to 1000 … got 1001',
      '9: max_attempts: wanted a whole number from 1 to 100 with a function … got 1001',
      expect.stringMatching(/^10: unknown key "timout": .*; did you mean timeout\?$/u),
    ]);
  });

  it('refuse a file that is no trigger, and a name that two have', () => {
    write(`${HEAD}${COLUMNS}`);
    write(`${HEAD}${COLUMNS}`, 'twice.yaml');
    write('', 'notes.txt');
    expect(problems().map(({ file, line, message }) => `${file}:${line}: ${message}`)).toEqual([
      'trips/triggers/notes.txt:0: wanted only files named <trigger>.yaml in the folder triggers',
      'trips/triggers/twice.yaml:1: trigger: wanted "twice", the name of its file, got "bill"',
      'trips/triggers/twice.yaml:1: trigger bill is defined in trips/triggers/bill.yaml already',
    ]);
  });

  it('may name missing files if the project folder is unknown', () => {
    write(`${HEAD}${COLUMNS}function: functions/gone.ts\n`);
    expect(folder.load()[0]?.triggers).toMatchObject([{ function: 'functions/gone.ts' }]);
  });
});
