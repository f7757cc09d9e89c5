import { statSync } from 'node:fs';
import { isAbsolute, join, normalize } from 'node:path';
import { describe } from '../errors.ts';
import { parseTime } from '../time.ts';
import { TRIGGER_NAME, type TriggerDefinition, type TriggerStart } from './definitions.ts';
import { parseDuration } from './duration.ts';
import type { FilePlace, ParsedFile } from './load-files.ts';
import { Problems } from './problems.ts';
import { parseTriggerColumns } from './trigger-columns.ts';
import { parseYamlFile, type YamlEntry, type YamlMapping } from './yaml-file.ts';

const KEYS = ['trigger', 'datastore', 'columns', 'function', 'start', 'max_attempts', 'stop_after_parked', 'retry_parked_every', 'timeout'];

const DEFAULTS = { max_attempts: 5, stop_after_parked: 100, retry_parked_every: 10 * 60_000, timeout: 30_000 };

/** How often a cell may be tried, at most. */
const MOST_ATTEMPTS = 1000;
/**
 * The same where there is a function. Each attempt is a receipt for the nine cells of a batch behind it, too: with more of them
 * SQS would reach its thousand, and give up cells that were never tried.
 */
const MOST_ATTEMPTS_OF_FUNCTIONS = 100;

const NEVER = 'never';
const RETRY_MS = { least: 500, most: 30 * 86_400_000 };
/** Ten cells are handled within one call of a Lambda function, which may take 15 minutes. */
const TIMEOUT_MS = { least: 1000, most: 600_000 };

/**
 * Checks one `triggers/<name>.yaml`.
 *
 * @param project the folder that `function` is given from @default whether the file is there is not looked at
 */
export function parseTrigger({ file, name, datastore }: FilePlace, text: string, project?: string): ParsedFile<TriggerDefinition> {
  const { entries, problems: found } = parseYamlFile(file, text);
  if (!entries) return { definition: undefined, line: 1, problems: found, warnings: [] };
  const problems = new Problems(file, found);
  problems.unknownKeys(entries, KEYS);

  const given = entries.get('trigger');
  const validName = typeof given?.value === 'string' && TRIGGER_NAME.test(given.value) ? given.value : undefined;
  if (validName === undefined) problems.wrong('trigger', 'a name of 1 to 48 of a-z, 0-9 and _ that starts with a letter', given);
  else if (validName !== name) problems.wrong('trigger', `${describe(name)}, the name of its file`, given);

  const owner = entries.get('datastore');
  if (owner?.value !== datastore) problems.wrong('datastore', `${describe(datastore)}, the name of its folder`, owner);

  const columns = parseTriggerColumns(entries.get('columns'), problems);
  const handler = parseFunction(entries.get('function'), project, problems);
  const retry = parseRetry(entries.get('retry_parked_every'), problems);
  const rest = {
    start: parseStart(entries.get('start'), problems),
    maxAttempts: parseAttempts(entries, problems),
    stopAfterParked: parseCount(entries, 'stop_after_parked', { most: 10_000 }, problems),
    timeoutSeconds: parseTimeout(entries.get('timeout'), problems),
  };
  const optional = { ...(columns && { columns }), ...(handler !== undefined && { function: handler }), ...(retry !== undefined && { retryParkedEveryMs: retry }) };
  const definition = validName === undefined ? undefined : { name: validName, ...optional, ...rest };
  return { definition, line: given?.line ?? 1, problems: problems.list, warnings: [] };
}

function parseFunction(entry: YamlEntry | undefined, project: string | undefined, problems: Problems): string | undefined {
  if (!entry) return undefined;
  const path = typeof entry.value === 'string' && entry.value !== '' ? normalize(entry.value) : undefined;
  if (path === undefined || isAbsolute(path) || path.startsWith('..')) problems.wrong('function', "the path of a file from the project's root, like functions/examples/bill-rider.ts", entry);
  else if (project !== undefined && !statSync(join(project, path), { throwIfNoEntry: false })?.isFile()) problems.wrong('function', `a file of the project in ${project}`, entry);
  return path;
}

function parseStart(entry: YamlEntry | undefined, problems: Problems): TriggerStart {
  if (!entry || entry.value === 0) return 'start';
  if (entry.value === 'now') return 'now';
  try {
    return { since: parseTime(entry.value, 'start') };
  } catch {
    problems.wrong('start', '0 for the start of the logs, now, or a time with zone, like 2026-01-31T08:00:00Z', entry);
    return 'start';
  }
}

function parseAttempts(entries: YamlMapping, problems: Problems): number {
  if (!entries.has('function')) return parseCount(entries, 'max_attempts', { most: MOST_ATTEMPTS }, problems);
  const why = ' where there is a function, since each attempt is a receipt of the cells behind it, too';
  return parseCount(entries, 'max_attempts', { most: MOST_ATTEMPTS_OF_FUNCTIONS, why }, problems);
}

function parseCount(entries: YamlMapping, key: 'max_attempts' | 'stop_after_parked', { most, why = '' }: { readonly most: number; readonly why?: string }, problems: Problems): number {
  const entry = entries.get(key);
  if (!entry) return DEFAULTS[key];
  const count = Number.isInteger(entry.value) ? Number(entry.value) : 0;
  if (count < 1 || count > most) problems.wrong(key, `a whole number from 1 to ${most}${why}`, entry);
  return count;
}

/** Undefined: never. */
function parseRetry(entry: YamlEntry | undefined, problems: Problems): number | undefined {
  if (!entry) return DEFAULTS.retry_parked_every;
  if (entry.value === NEVER) return undefined;
  const every = parseDuration(entry.value);
  if (every === undefined || every < RETRY_MS.least || every > RETRY_MS.most) problems.wrong('retry_parked_every', 'a time from 500ms to 30d, like 30s, 10m or 2h, or never', entry);
  return every;
}

function parseTimeout(entry: YamlEntry | undefined, problems: Problems): number {
  const timeout = entry ? (parseDuration(entry.value) ?? 0) : DEFAULTS.timeout;
  if (timeout < TIMEOUT_MS.least || timeout > TIMEOUT_MS.most || timeout % 1000 !== 0) problems.wrong('timeout', 'a time from 1s to 10m in whole seconds, like 30s or 2m', entry);
  return timeout / 1000;
}
