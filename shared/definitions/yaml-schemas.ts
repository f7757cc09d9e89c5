import { isAbsolute, normalize } from 'node:path';
import * as z from 'zod';
import { ROUTE_WORDS } from '../address.ts';
import { LIMITS } from '../cell.ts';
import { parseTime } from '../time.ts';
import {
  DATASTORE_NAME,
  FIELD_TYPES,
  INDEX_NAME,
  MAX_RETENTION_RULES,
  MAX_SEALED,
  MAX_SHARDS,
  MOST_KEPT_VERSIONS,
  TRIGGER_NAME,
  type RetentionRule,
  type TriggerDefinition,
  QUERY_WORDS,
} from './definitions.ts';

/*
 * All that the YAML of a datastore may hold; `npm run schema` makes JSON Schemas for editors of it. What depends on
 * several values, on the names of files or on the disk is in `check-index.ts`, `check-trigger.ts` and
 * `definition-files.ts`.
 *
 * An error says what was wanted, and no more: `definition-file.ts` says where, and what came.
 */

/** The error of unknown keys is the list of those that are known. */
function mapping<Shape extends z.ZodRawShape>(shape: Shape, wanted = 'a mapping') {
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? Object.keys(shape).join(', ') : wanted),
  });
}

function list<Item extends z.ZodType>(item: Item, wanted: string, most = Infinity) {
  const some = z.array(item, wanted).min(1, wanted);
  return most === Infinity ? some : some.max(most, wanted);
}

function count(most: number) {
  const wanted = `a whole number from 1 to ${most}`;
  return z.int(wanted).min(1, wanted).max(most, wanted);
}

/** @param isTaken what the pattern cannot say */
function text(wanted: string, pattern: RegExp, isTaken: (specified: string) => boolean = () => true) {
  return z.string(wanted).regex(pattern, wanted).refine(isTaken, wanted);
}

function nameOf(pattern: RegExp, most: number) {
  const except = pattern === DATASTORE_NAME ? '' : `, other than ${ROUTE_WORDS.join(', ')}`;
  return text(`a name of 1 to ${most} of a-z, 0-9 and _ that starts with a letter${except}`, pattern);
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `500ms`, `30s`, `10m`, `2h` or `1d`; becomes milliseconds. */
function duration(wanted: string, isTaken: (milliseconds: number) => boolean) {
  const milliseconds = (specified: string): number =>
    Number.parseInt(specified, 10) * (UNIT_MS[specified.replace(/^\d+/u, '')] ?? 0);
  return text(wanted, /^\d{1,9}(ms|s|m|h|d)$/u)
    .transform(milliseconds)
    .refine(isTaken, wanted);
}

const columnName = text(
  `text of 1 to ${LIMITS.columnNameBytes} bytes`,
  new RegExp(`^[\\s\\S]{1,${LIMITS.columnNameBytes}}$`, 'u'),
  (name) => name.isWellFormed() && Buffer.byteLength(name) <= LIMITS.columnNameBytes,
);

const owner = z
  .string('the name of its folder')
  .meta({ pattern: DATASTORE_NAME.source, description: 'The datastore that it belongs to: the name of its folder.' });

const SECOND_MS = 1000;
const LONGEST_KEPT_MS = 36_500 * 86_400_000;

const retentionRule = mapping(
  {
    column: columnName.describe("The column, or '*' for each that has no rule of its own."),
    keep_versions: count(MOST_KEPT_VERSIONS)
      .exactOptional()
      .describe('So many cells of a row are kept: those with the highest ref keys.'),
    keep_for: duration('a time from 1s to 36500d, like 12h or 90d', (ms) => ms >= SECOND_MS && ms <= LONGEST_KEPT_MS)
      .exactOptional()
      .describe('How long cells are kept from when they were stored: 1s to 36500d.'),
  },
  'a mapping of column and keep_versions or keep_for, or both',
);

const RETENTION_WANTED = `a list of up to ${MAX_RETENTION_RULES} rules, each a mapping of column and keep_versions or keep_for, or both`;

const fieldPath = text(
  'a name, or names joined by points, each of A-Z, a-z, 0-9 and _ and not starting with a digit, at most 64 in all',
  // A key `__proto__` in a response is a trap for its readers.
  /^(?=.{1,64}$)(?!(.*\.)?__proto__(\.|$))[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/u,
);

const SEALED_WANTED = `a list of up to ${MAX_SEALED} mappings of column, subject and fields`;
const SEALED_FIELDS_WANTED = `a list of up to ${MAX_SEALED} fields, each a name or names joined by points`;
const sealed = mapping(
  {
    column: columnName.describe('The column whose bodies have the fields.'),
    subject: fieldPath.describe('The field that names whose they are, by a string such as a UUID. It is not sealed.'),
    fields: list(fieldPath, SEALED_FIELDS_WANTED, MAX_SEALED).describe(
      'The fields that are sealed, by their paths into objects, like rider.phone.',
    ),
  },
  'a mapping of column, subject and fields',
);

export const datastoreYaml = mapping({
  datastore: nameOf(DATASTORE_NAME, 48).describe('Its name, which is that of its folder.'),
  shards: count(MAX_SHARDS).describe(
    'How many MySQL databases it is spread over, those of all groups: fixed once it exists.',
  ),
  retention: list(retentionRule, RETENTION_WANTED, MAX_RETENTION_RULES)
    .exactOptional()
    .describe('How long cells are kept; what a rule does not keep is hidden at once, and erased. Left out: for good.'),
  sealed: list(sealed, SEALED_WANTED, MAX_SEALED)
    .exactOptional()
    .describe('Fields that become unreadable once their subject is forgotten. Left out: none.'),
})
  .meta({ title: 'A datastore', description: 'datastore.yaml in the folder of a datastore.' })
  .transform(({ datastore, shards, retention, sealed: specified }) => ({
    name: datastore,
    shards,
    ...(specified && { sealed: specified }),
    ...(retention && {
      retention: retention.map(({ column, keep_versions, keep_for }): RetentionRule => ({
        column,
        ...(keep_versions !== undefined && { keepVersions: keep_versions }),
        ...(keep_for !== undefined && { keepForMs: keep_for }),
      })),
    }),
  }));

const fieldName = fieldPath.refine(
  (name) => !QUERY_WORDS.includes(name),
  `a name that means nothing else in a query (${QUERY_WORDS.join(', ')})`,
);

const indexField = mapping(
  {
    field: fieldName.meta({
      not: { enum: QUERY_WORDS },
      description: 'Its path within the bodies of the column, like fare.total.',
    }),
    type: z
      .enum(FIELD_TYPES, `one of ${FIELD_TYPES.join(', ')}`)
      .describe(
        'string: up to 255 bytes; integer: 64 bits; datetime: RFC 3339 with zone. A value of another type counts as none.',
      ),
  },
  'a mapping of field and type',
);

const indexColumn = mapping(
  {
    column_key: columnName.describe('The column whose latest cell has the fields.'),
    fields: list(indexField, 'a list of fields, each a mapping of field and type').describe(
      'The first of the first column is the shard field.',
    ),
  },
  'a mapping of column_key and fields',
);

/** With the shard field and the row key, of the longest strings, a key stays below MySQL's 3072 bytes. */
const MAX_KEY_FIELDS = 8;
const KEY_WANTED = `a list of 2 to ${MAX_KEY_FIELDS} field names (each field has a key of its own already)`;
const indexKey = z
  .array(z.string('the name of a field'), KEY_WANTED)
  .min(2, KEY_WANTED)
  .max(MAX_KEY_FIELDS, KEY_WANTED);
/** With a key for each field: below MySQL's 64 keys a table, and more than writes can bear anyway. */
export const MAX_KEYS = 16;

export const indexYaml = mapping({
  table: nameOf(INDEX_NAME, 55).describe('Its name, which is that of its file.'),
  datastore: owner,
  column_defs: list(indexColumn, 'a list of columns with their fields').describe(
    'The fields of its entries, at most 16. The first, the shard field, has many values, like an id; every query gives one.',
  ),
  keys: z
    .array(indexKey, 'a list of lists of field names')
    .default([])
    // Zod would not check the items of a list that is too long.
    .meta({
      maxItems: MAX_KEYS,
      uniqueItems: true,
      description: 'Fields that queries name together, without the shard field, which precedes them.',
    }),
})
  .meta({
    title: 'An index',
    description: 'A file in the folder indexes of a datastore: fields by which rows are found.',
  })
  .transform(({ table, column_defs, keys }) => {
    const fields = column_defs.flatMap(({ column_key, fields }) => fields.map((field) => ({ ...field, column_key })));
    return { name: table, fields, keys };
  });

/**
 * The most attempts of a cell for a trigger with a function. Each attempt is also a receipt for the nine later cells of
 * a batch. With more attempts SQS would reach its thousand receipts, and give up cells that were never tried.
 */
export const MOST_ATTEMPTS_OF_FUNCTIONS = 100;

const COLUMNS_WANTED = "a list of column names, or '*' for every column";
const triggerColumn = columnName
  .refine((name) => name !== '*', "a column name; for every column say columns: '*'")
  .meta({ not: { const: '*' } });

const handler = text(
  "the path of a file from the project's root, like functions/examples/bill-rider.ts",
  /^(?!\/|\.\.\/)./u,
  (path) => !isAbsolute(path) && !normalize(path).startsWith('..'),
);

const START_WANTED = '0 for the start of the logs, now, or a time with zone, like 2026-01-31T08:00:00Z';
const since = z
  .string()
  .meta({ format: 'date-time' })
  .transform((specified, context) => {
    try {
      return { since: parseTime(specified, 'start') };
    } catch {
      context.addIssue({ code: 'custom', message: START_WANTED });
      return z.NEVER;
    }
  });

const RETRY_WANTED = 'a time from 500ms to 30d, like 30s, 10m or 2h, or never';
const retry = duration(RETRY_WANTED, (ms) => ms >= 500 && ms <= 30 * 86_400_000);
/** Ten cells are handled within one call of a Lambda function, which may take 15 minutes. */
const timeout = duration(
  'a time from 1s to 10m in whole seconds, like 30s or 2m',
  (ms) => ms >= 1000 && ms <= 600_000 && ms % 1000 === 0,
);

export const triggerYaml = mapping({
  trigger: nameOf(TRIGGER_NAME, 48).describe('Its name, which is that of its file.'),
  datastore: owner,
  columns: z
    .union([z.literal('*'), list(triggerColumn, COLUMNS_WANTED).meta({ uniqueItems: true })], COLUMNS_WANTED)
    .describe("The columns whose cells call the function, or '*' for every column."),
  function: handler
    .exactOptional()
    .describe("Its file, from the project's root. Left out: only the queue is made, for consumers elsewhere."),
  start: z
    .union([z.literal(0).transform(() => 'start' as const), z.literal('now'), since], START_WANTED)
    .prefault(0)
    .describe(
      'The position at which it begins in existing logs: 0, their start; now, their ends; or a time with its zone.',
    ),
  max_attempts: count(1000)
    .default(5)
    .describe(`Failures of one cell before it is parked: at most ${MOST_ATTEMPTS_OF_FUNCTIONS} with a function.`),
  stop_after_parked: count(10_000).default(100).describe('So many cells parked now stop the trigger.'),
  retry_parked_every: z
    .union([z.literal('never'), retry], RETRY_WANTED)
    .prefault('10m')
    .describe('How often parked cells are sent again by themselves: 500ms to 30d, or never.'),
  timeout: timeout.prefault('30s').describe('How long one call of the function may take: 1s to 10m.'),
})
  .meta({
    title: 'A trigger',
    description:
      'A file in the folder triggers of a datastore: a function that is called for each cell of some columns.',
    if: { required: ['function'] },
    // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
    then: { properties: { max_attempts: { maximum: MOST_ATTEMPTS_OF_FUNCTIONS } } },
  })
  .transform(({ columns, function: file, retry_parked_every, ...specified }): TriggerDefinition => ({
    name: specified.trigger,
    ...(columns !== '*' && { columns }),
    ...(file !== undefined && { function: normalize(file) }),
    ...(retry_parked_every !== 'never' && { retryParkedEveryMs: retry_parked_every }),
    start: specified.start,
    maxAttempts: specified.max_attempts,
    stopAfterParked: specified.stop_after_parked,
    timeoutSeconds: specified.timeout / 1000,
  }));
