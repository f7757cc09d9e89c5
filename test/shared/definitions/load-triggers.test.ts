import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Problem } from '../../../shared/definitions/definitions-error.ts';
import type { TriggerDefinition } from '../../../shared/definitions/definitions.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { folder, problemsOf, writeIn } from './support/definitions-folder.ts';

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'schemaless-project-'));
  mkdirSync(join(project, 'functions'));
  writeFileSync(join(project, 'functions', 'bill.ts'), '');
  writeIn('trips/datastore.yaml', 'datastore: trips\nshards: 4\n');
});
afterEach(() => rmSync(project, { recursive: true }));

const HEAD = 'trigger: bill\ndatastore: trips\n';
const COLUMNS = 'columns: [BASE]\n';

/** What is wrong with the columns, on line 3, or with what comes behind them, on line 4. */
const onLine = (line: 3 | 4, what: string, text: string, message: RegExp): [string, string, number, RegExp] => [
  what,
  `${HEAD}${line === 4 ? COLUMNS : ''}${text}\n`,
  line,
  message,
];

const write = (text: string, file = 'bill.yaml'): void => writeIn(`trips/triggers/${file}`, text);

function triggers(): readonly TriggerDefinition[] | undefined {
  return loadDefinitions(folder.path, undefined, project).datastores[0]?.triggers;
}

const problems = (): readonly Problem[] => problemsOf(triggers);

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
    [
      'an empty column name',
      `${HEAD}columns:\n  - BASE\n  - ''\n`,
      5,
      /columns\[1\]: wanted text of 1 to 255 bytes, got ""/u,
    ],
    [
      'a column twice',
      `${HEAD}columns:\n  - BASE\n  - NOTES\n  - BASE\n`,
      6,
      /columns\[2\]: wanted each column once, got "BASE" again, which line 4 has/u,
    ],
    [
      'more attempts than leave the cells behind untouched',
      `${HEAD}${COLUMNS}function: functions/bill.ts\nmax_attempts: 101\n`,
      5,
      /max_attempts: wanted a whole number from 1 to 100 where there is a function, since each attempt is a receipt of the cells behind it, too, got 101/u,
    ],
    ['no mapping', '- bill\n', 1, /wanted a mapping/u],
    onLine(3, 'no column', 'columns: []', /columns: wanted a list of column names.*got an empty list/u),
    onLine(3, 'a column alone', 'columns: BASE', /columns: wanted a list .*got "BASE"/u),
    onLine(
      3,
      'a column name of 256 bytes',
      `columns: [${'é'.repeat(128)}]`,
      /columns\[0\]: wanted text of 1 to 255 bytes/u,
    ),
    onLine(3, 'a column name that is a number', 'columns: [7]', /columns\[0\]: wanted text of 1 to 255 bytes, got 7/u),
    onLine(
      3,
      'every column within a list',
      `columns: ['*']`,
      /columns\[0\]: wanted a column name; for every column say columns: '\*'/u,
    ),
    onLine(
      4,
      'a key that is not known',
      'retries: 3',
      /unknown key "retries": wanted one of trigger, datastore, columns, function, start, max_attempts, stop_after_parked, retry_parked_every, timeout/u,
    ),
    onLine(
      4,
      'a function that is not there',
      'function: functions/gone.ts',
      /function: wanted a file of the project in .*, got "functions\/gone\.ts"/u,
    ),
    onLine(4, 'a function that is a folder', 'function: functions', /function: wanted a file of the project/u),
    onLine(
      4,
      'a function outside the project',
      'function: functions/../../bill.ts',
      /function: wanted the path of a file from the project's root/u,
    ),
    onLine(
      4,
      'a function by an absolute path',
      'function: /bill.ts',
      /function: wanted the path of a file from the project's root/u,
    ),
    onLine(4, 'a function without a path', 'function:', /function: wanted the path of a file .*got null/u),
    onLine(
      4,
      'a start by an added id',
      'start: 7',
      /start: wanted 0 for the start of the logs, now, or a time with zone, .*got 7/u,
    ),
    onLine(4, 'a start without a zone', 'start: 2026-01-31T08:00:00', /start: wanted .*got "2026-01-31T08:00:00"/u),
    onLine(4, 'no attempts', 'max_attempts: 0', /max_attempts: wanted a whole number from 1 to 1000, got 0/u),
    onLine(4, 'too many attempts', 'max_attempts: 1001', /max_attempts: .*got 1001/u),
    onLine(4, 'a fraction of an attempt', 'max_attempts: 1.5', /max_attempts: .*got 1\.5/u),
    onLine(
      4,
      'a threshold of none',
      'stop_after_parked: 0',
      /stop_after_parked: wanted a whole number from 1 to 10000, got 0/u,
    ),
    onLine(4, 'a threshold too high', 'stop_after_parked: 10001', /stop_after_parked: .*got 10001/u),
    onLine(
      4,
      'a time without a unit',
      'retry_parked_every: 10',
      /retry_parked_every: wanted a time from 500ms to 30d, .*or never, got 10/u,
    ),
    onLine(4, 'a time in words', 'retry_parked_every: 10 minutes', /retry_parked_every: .*got "10 minutes"/u),
    onLine(4, 'a retry all the time', 'retry_parked_every: 499ms', /retry_parked_every: wanted a time from 500ms/u),
    onLine(4, 'a retry next year', 'retry_parked_every: 31d', /retry_parked_every: wanted a time from 500ms to 30d/u),
    onLine(
      4,
      'half a second for a call',
      'timeout: 1500ms',
      /timeout: wanted a time from 1s to 10m in whole seconds, like 30s or 2m, got "1500ms"/u,
    ),
    onLine(4, 'no time for a call', 'timeout: 0s', /timeout: wanted .*got "0s"/u),
    onLine(4, 'too long a call', 'timeout: 11m', /timeout: .*got "11m"/u),
    onLine(4, 'a call that never ends', 'timeout: never', /timeout: .*got "never"/u),
  ])('refuse %s, with its line', (_, text, line, message) => {
    write(text);
    expect(problems()).toEqual([
      { file: join('trips', 'triggers', 'bill.yaml'), line, message: expect.stringMatching(message) },
    ]);
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
      '9: max_attempts: wanted a whole number from 1 to 100 where there is a function … got 1001',
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

  it('may name files that are not there where nobody says where the project is', () => {
    write(`${HEAD}${COLUMNS}function: functions/gone.ts\n`);
    expect(loadDefinitions(folder.path).datastores[0]?.triggers).toMatchObject([{ function: 'functions/gone.ts' }]);
  });
});
