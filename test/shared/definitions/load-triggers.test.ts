import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DefinitionsError, type Problem } from '../../../shared/definitions/definitions-error.ts';
import type { TriggerDefinition } from '../../../shared/definitions/definitions.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';

let folder: string;
let project: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'schemaless-triggers-'));
  project = mkdtempSync(join(tmpdir(), 'schemaless-project-'));
  mkdirSync(join(folder, 'trips', 'triggers'), { recursive: true });
  mkdirSync(join(project, 'functions'));
  writeFileSync(join(project, 'functions', 'bill.ts'), '');
  writeFileSync(join(folder, 'trips', 'datastore.yaml'), 'datastore: trips\nshards: 4\n');
});
afterEach(() => {
  for (const made of [folder, project]) rmSync(made, { recursive: true });
});

const HEAD = 'trigger: bill\ndatastore: trips\n';
const COLUMNS = 'columns: [BASE]\n';

function write(text: string, file = 'bill.yaml'): void {
  writeFileSync(join(folder, 'trips', 'triggers', file), text);
}

function triggers(): readonly TriggerDefinition[] | undefined {
  return loadDefinitions(folder, undefined, project).datastores[0]?.triggers;
}

function problemsOf(): readonly Problem[] {
  try {
    triggers();
  } catch (error) {
    if (error instanceof DefinitionsError) return error.problems;
    throw error;
  }
  throw new Error('wanted problems, got none');
}

describe('the triggers of a datastore', () => {
  it('are read in the order of their names, with what they leave out filled in', () => {
    write(`${HEAD}${COLUMNS}`);
    write("trigger: all\ndatastore: trips\ncolumns: '*'\nretry_parked_every: never\n", 'all.yaml');
    write('', '.hidden');
    expect(triggers()).toEqual([
      { name: 'all', start: 'start', maxAttempts: 5, stopAfterParked: 100, timeoutSeconds: 30 },
      {
        name: 'bill',
        columns: ['BASE'],
        start: 'start',
        maxAttempts: 5,
        stopAfterParked: 100,
        retryParkedEveryMs: 600_000,
        timeoutSeconds: 30,
      },
    ]);
  });

  it('say all that can be said', () => {
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

  it.each<[string, string, Partial<TriggerDefinition>]>([
    ['the start of the logs', 'start: 0', { start: 'start' }],
    ['their ends', 'start: now', { start: 'now' }],
    ['half a second', 'retry_parked_every: 500ms', { retryParkedEveryMs: 500 }],
    ['seconds', 'retry_parked_every: 30s', { retryParkedEveryMs: 30_000 }],
    ['minutes', 'retry_parked_every: 10m', { retryParkedEveryMs: 600_000 }],
    ['days', 'retry_parked_every: 1d', { retryParkedEveryMs: 86_400_000 }],
    ['a thousand milliseconds', 'timeout: 1000ms', { timeoutSeconds: 1 }],
    ['the longest column name', `columns: [${'é'.repeat(127)}x]`, { columns: [`${'é'.repeat(127)}x`] }],
  ])('take %s', (_, line, wanted) => {
    write(`${HEAD}${line.startsWith('columns') ? '' : COLUMNS}${line}\n`);
    expect(triggers()).toMatchObject([wanted]);
  });

  it.each<[string, string, number, RegExp]>([
    [
      'a key that is not known',
      `${HEAD}${COLUMNS}retries: 3\n`,
      4,
      /unknown key "retries": wanted one of trigger, datastore, columns, function, start, max_attempts, stop_after_parked, retry_parked_every, timeout/u,
    ],
    [
      'another name than its file',
      `${HEAD.replace('bill', 'bill_rider')}${COLUMNS}`,
      1,
      /trigger: wanted "bill", the name of its file, got "bill_rider"/u,
    ],
    ['no name', `datastore: trips\n${COLUMNS}`, 1, /trigger: wanted a name of 1 to 48 .*got nothing/u],
    [
      'a bad name',
      `${HEAD.replace('bill', 'Bill')}${COLUMNS}`,
      1,
      /trigger: wanted a name of 1 to 48 of a-z, 0-9 and _ that starts with a letter, got "Bill"/u,
    ],
    [
      'a name of 49 characters',
      `${HEAD.replace('bill', 'b'.repeat(49))}${COLUMNS}`,
      1,
      /trigger: wanted a name of 1 to 48/u,
    ],
    [
      'another datastore',
      `${HEAD.replace('trips', 'rides')}${COLUMNS}`,
      2,
      /datastore: wanted "trips", the name of its folder, got "rides"/u,
    ],
    ['no columns', HEAD, 1, /columns: wanted a list of column names, or '\*' for every column, got nothing/u],
    ['no column', `${HEAD}columns: []\n`, 3, /columns: wanted a list of column names.*got an empty list/u],
    ['a column alone', `${HEAD}columns: BASE\n`, 3, /columns: wanted a list .*got "BASE"/u],
    [
      'an empty column name',
      `${HEAD}columns:\n  - BASE\n  - ''\n`,
      5,
      /columns\[1\]: wanted text of 1 to 255 bytes, got ""/u,
    ],
    [
      'a column name of 256 bytes',
      `${HEAD}columns: [${'é'.repeat(128)}]\n`,
      3,
      /columns\[0\]: wanted text of 1 to 255 bytes/u,
    ],
    [
      'a column name that is a number',
      `${HEAD}columns: [7]\n`,
      3,
      /columns\[0\]: wanted text of 1 to 255 bytes, got 7/u,
    ],
    [
      'every column within a list',
      `${HEAD}columns: ['*']\n`,
      3,
      /columns\[0\]: wanted a column name; for every column say columns: '\*'/u,
    ],
    [
      'a column twice',
      `${HEAD}columns:\n  - BASE\n  - NOTES\n  - BASE\n`,
      6,
      /columns\[2\]: wanted each column once, got "BASE" again, which line 4 has/u,
    ],
    [
      'a function that is not there',
      `${HEAD}${COLUMNS}function: functions/gone.ts\n`,
      4,
      /function: wanted a file of the project in .*, got "functions\/gone\.ts"/u,
    ],
    [
      'a function that is a folder',
      `${HEAD}${COLUMNS}function: functions\n`,
      4,
      /function: wanted a file of the project/u,
    ],
    [
      'a function outside the project',
      `${HEAD}${COLUMNS}function: functions/../../bill.ts\n`,
      4,
      /function: wanted the path of a file from the project's root/u,
    ],
    [
      'a function by an absolute path',
      `${HEAD}${COLUMNS}function: /bill.ts\n`,
      4,
      /function: wanted the path of a file from the project's root/u,
    ],
    ['a function without a path', `${HEAD}${COLUMNS}function:\n`, 4, /function: wanted the path of a file .*got null/u],
    [
      'a start by an added id',
      `${HEAD}${COLUMNS}start: 7\n`,
      4,
      /start: wanted 0 for the start of the logs, now, or a time with zone, .*got 7/u,
    ],
    [
      'a start without a zone',
      `${HEAD}${COLUMNS}start: 2026-01-31T08:00:00\n`,
      4,
      /start: wanted .*got "2026-01-31T08:00:00"/u,
    ],
    [
      'no attempts',
      `${HEAD}${COLUMNS}max_attempts: 0\n`,
      4,
      /max_attempts: wanted a whole number from 1 to 1000, got 0/u,
    ],
    ['too many attempts', `${HEAD}${COLUMNS}max_attempts: 1001\n`, 4, /max_attempts: .*got 1001/u],
    [
      'more attempts than leave the cells behind untouched',
      `${HEAD}${COLUMNS}function: functions/bill.ts\nmax_attempts: 101\n`,
      5,
      /max_attempts: wanted a whole number from 1 to 100 where there is a function, since each attempt is a receipt of the cells behind it, too, got 101/u,
    ],
    ['a fraction of an attempt', `${HEAD}${COLUMNS}max_attempts: 1.5\n`, 4, /max_attempts: .*got 1\.5/u],
    [
      'a threshold of none',
      `${HEAD}${COLUMNS}stop_after_parked: 0\n`,
      4,
      /stop_after_parked: wanted a whole number from 1 to 10000, got 0/u,
    ],
    ['a threshold too high', `${HEAD}${COLUMNS}stop_after_parked: 10001\n`, 4, /stop_after_parked: .*got 10001/u],
    [
      'a time without a unit',
      `${HEAD}${COLUMNS}retry_parked_every: 10\n`,
      4,
      /retry_parked_every: wanted a time from 500ms to 30d, .*or never, got 10/u,
    ],
    [
      'a time in words',
      `${HEAD}${COLUMNS}retry_parked_every: 10 minutes\n`,
      4,
      /retry_parked_every: .*got "10 minutes"/u,
    ],
    [
      'a retry all the time',
      `${HEAD}${COLUMNS}retry_parked_every: 499ms\n`,
      4,
      /retry_parked_every: wanted a time from 500ms/u,
    ],
    [
      'a retry next year',
      `${HEAD}${COLUMNS}retry_parked_every: 31d\n`,
      4,
      /retry_parked_every: wanted a time from 500ms to 30d/u,
    ],
    [
      'half a second for a call',
      `${HEAD}${COLUMNS}timeout: 1500ms\n`,
      4,
      /timeout: wanted a time from 1s to 10m in whole seconds, like 30s or 2m, got "1500ms"/u,
    ],
    ['no time for a call', `${HEAD}${COLUMNS}timeout: 0s\n`, 4, /timeout: wanted .*got "0s"/u],
    ['too long a call', `${HEAD}${COLUMNS}timeout: 11m\n`, 4, /timeout: .*got "11m"/u],
    ['a call that never ends', `${HEAD}${COLUMNS}timeout: never\n`, 4, /timeout: .*got "never"/u],
    ['no mapping', '- bill\n', 1, /wanted a mapping/u],
  ])('refuse %s, with its line', (_, text, line, message) => {
    write(text);
    const problems = problemsOf();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ file: join('trips', 'triggers', 'bill.yaml'), line });
    expect(problems[0]?.message).toMatch(message);
  });

  it('have all problems of one file named at once', () => {
    write(
      `${HEAD}columns:\n  - 7\n  - ''\n  - BASE\n  - BASE\nfunction: functions/gone.ts\nmax_attempts: 1001\ntimout: 3s\n`,
    );
    expect(problemsOf().map(({ line, message }) => `${line}: ${message.replace(/,.*got /u, ' … got ')}`)).toEqual([
      '4: columns[0]: wanted text of 1 to 255 bytes … got 7',
      '5: columns[1]: wanted text of 1 to 255 bytes … got ""',
      '7: columns[3]: wanted each column once … got "BASE" again, which line 6 has',
      expect.stringMatching(/^8: function: wanted a file of the project in/u),
      '9: max_attempts: wanted a whole number from 1 to 1000 … got 1001',
      '9: max_attempts: wanted a whole number from 1 to 100 where there is a function … got 1001',
      expect.stringMatching(/^10: unknown key "timout": .*; did you mean timeout\?$/u),
    ]);
  });

  it('refuse a file that is no trigger, and a name that two have', () => {
    write(`${HEAD}${COLUMNS}`);
    write(`${HEAD}${COLUMNS}`, 'twice.yaml');
    write('', 'notes.txt');
    expect(problemsOf().map(({ file, line, message }) => `${file}:${line}: ${message}`)).toEqual([
      'trips/triggers/notes.txt:0: wanted only files named <trigger>.yaml in the folder triggers',
      'trips/triggers/twice.yaml:1: trigger: wanted "twice", the name of its file, got "bill"',
      'trips/triggers/twice.yaml:1: trigger bill is defined in trips/triggers/bill.yaml already',
    ]);
  });

  it('may name files that are not there where nobody says where the project is', () => {
    write(`${HEAD}${COLUMNS}function: functions/gone.ts\n`);
    expect(loadDefinitions(folder).datastores[0]?.triggers).toMatchObject([{ function: 'functions/gone.ts' }]);
  });
});
