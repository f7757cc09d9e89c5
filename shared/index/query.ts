import type { FieldHash, IndexQuery } from '../contract/index-query.ts';
import { conditionsOf, parameterOf, type Condition, type Operator } from '../where.ts';
import { parseColumnName, parseLimit } from '../address.ts';
import { LIMITS } from '../cell.ts';
import type { IndexDefinition, IndexField } from '../definitions/definitions.ts';
import { invalidField, missingField, SchemalessError, unknownField } from '../errors.ts';
import { decodeCursor, type CursorPosition } from './cursor.ts';
import { fromText, shardOfValue, toFieldValue, WANTED_VALUE, type FieldValue } from '../definitions/field-value.ts';
import type { IndexCatalogue, IndexVersion } from '../topology/index-catalogue.ts';
import type { IndexNow } from '../topology/index-now.ts';
import type { TopologySource } from '../topology/topology.ts';
import type { IndexPolls } from './index-polls.ts';
import type { PhysicalIndex } from './index-table.ts';

/** A checked condition; `position` is the field's in the definition. */
export interface Filter {
  readonly position: number;
  readonly operator: Operator;
  readonly values: readonly Exclude<FieldValue, null>[];
}

export interface ParsedQuery {
  readonly shard: number;
  readonly shardValue: Exclude<FieldValue, null>;
  readonly filters: readonly Filter[];
  readonly fields: readonly number[];
  readonly columns: readonly string[] | '*' | undefined;
  readonly order: { readonly position: number; readonly descending: boolean } | undefined;
  readonly limit: number;
  readonly after: CursorPosition | undefined;
  readonly identity: () => string;
}

const OTHERWISE = ['limit', 'after', 'order', 'fields', 'column', 'read', 'explain'] as const;
const MAX_CONDITIONS = 32;

/** Checks a query. Throws `missing_field` without the shard field, `unknown_field`, `invalid_field`. */
export function parseQuery(query: IndexQuery, definition: IndexDefinition, shards: number): ParsedQuery {
  const names = definition.fields.map(({ field }) => field);
  const positionOf = (name: string, parameter: string): number => {
    const position = names.indexOf(name);
    if (position < 0)
      throw parameter === 'where'
        ? unknownField(name, names, OTHERWISE)
        : invalidField(parameter, `a field of the index: ${names.join(', ')}`, name);
    return position;
  };
  const conditions = conditionsOf(query.where);
  if (conditions.length > MAX_CONDITIONS)
    throw invalidField('where', `at most ${MAX_CONDITIONS} conditions`, conditions.length);
  const filters = conditions.map((condition): Filter => {
    const position = positionOf(condition.field, 'where');
    return {
      position,
      operator: condition.operator,
      values: parseValues(condition, definition.fields[position] as IndexField, query.hashed),
    };
  });
  const [shardField] = definition.fields;
  if (!shardField) throw new Error('an index without fields');
  const [shardFilter, second] = filters.filter(({ position, operator }) => position === 0 && operator === 'eq');
  const [shardValue] = shardFilter?.values ?? [];
  if (shardValue === undefined)
    throw missingField(
      shardField.field,
      `a value for the shard field, ${shardField.field}=…: it decides which shard answers`,
    );
  if (second || filters.some(({ position, operator }) => position === 0 && operator !== 'eq'))
    throw invalidField(shardField.field, 'one value by equality', 'further conditions');

  const order =
    query.order === undefined
      ? undefined
      : { position: positionOf(query.order.replace(/^-/, ''), 'order'), descending: query.order.startsWith('-') };
  if (order && definition.fields[order.position]?.sealed)
    throw invalidField('order', 'a field that is not sealed: those are found by equality alone', query.order);
  const identity = (): string =>
    JSON.stringify([
      query.index,
      query.order ?? '',
      filters.map(({ position, operator, values }) => [position, operator, values.map(String)]),
    ]);
  return {
    shard: shardOfValue(shardValue, shardField.type, shards),
    shardValue,
    filters: filters.filter(({ position }) => position > 0),
    // Distinct: a field may be named a million times.
    fields:
      query.fields === undefined
        ? names.map((_, position) => position)
        : [...new Set(query.fields)].map((name) => positionOf(name, 'fields')),
    columns: parseColumns(query.columns),
    // The shard field is the same in all entries.
    order: order?.position === 0 ? undefined : order,
    limit: parseLimit(query.limit),
    after:
      query.after === undefined
        ? undefined
        : decodeCursor(query.after, { identity: identity(), type: order && definition.fields[order.position]?.type }),
    identity,
  };
}

function parseColumns(columns: IndexQuery['columns']): readonly string[] | '*' | undefined {
  if (columns === undefined || columns === '*') return columns;
  const distinct = [...new Set(columns.map((column) => parseColumnName(column, 'column')))];
  if (distinct.length > LIMITS.listCells)
    throw invalidField('column', `at most ${LIMITS.listCells} columns`, distinct.length);
  return distinct.length === 0 ? undefined : distinct;
}

function parseValues(
  condition: Condition,
  definition: IndexField,
  hashed: FieldHash | undefined,
): Exclude<FieldValue, null>[] {
  const { field, operator, values } = condition;
  const { type, sealed } = definition;
  const parameter = parameterOf(condition);
  if (sealed && operator !== 'eq' && operator !== 'in')
    throw invalidField(parameter, `equality, or in: ${field} is sealed`, operator);
  return values.map((value) => {
    const isText = typeof value === 'string' || typeof value === 'bigint';
    const typed = isText ? fromText(String(value), type) : toFieldValue(value, type);
    if (typed === undefined || typed === null) throw invalidField(parameter, WANTED_VALUE[type], value);
    if (!sealed) return typed;
    if (!hashed)
      throw new SchemalessError('unavailable', `${field} is sealed, and its keys are not at hand yet: ask again`);
    return hashed(definition, String(typed));
  });
}

/** Returns the live version, cached or not. Throws `unknown_index`, `index_building`, `unavailable`. */
async function liveIndex(asked: IndexesAsked, name: string): Promise<PhysicalIndex> {
  const cached = versionOf(name, (await listedIndex(asked, name)).versions, 'live');
  if (cached) return cached;
  const { topology, datastore, polls } = asked;
  const now = await polls(name);
  const live = versionOf(name, now.versions, 'live');
  if (live) {
    topology.refresh();
    return live;
  }
  const building = versionOf(name, now.versions, 'building');
  if (building) throw beingBuilt(name, building.hash, now, `${name} is being built`);
  throw await unknownIndex(topology, datastore, name);
}

/** Returns an index as cached. Throws `unknown_index` after a poll whether it was made since. */
export async function listedIndex({ topology, datastore }: IndexesAsked, name: string): Promise<IndexCatalogue> {
  const find = async (): Promise<IndexCatalogue | undefined> =>
    (await topology.indexes(datastore)).find((one) => one.name === name);
  const known = await find();
  if (known) return known;
  await topology.renew();
  const made = await find();
  if (!made) throw await unknownIndex(topology, datastore, name);
  return made;
}

export interface IndexesAsked {
  readonly topology: TopologySource;
  readonly datastore: string;
  readonly polls: IndexPolls;
}

/**
 * Checks a query against the cached live version, or the one that became live a moment ago. Throws what is wrong with
 * it, `unknown_index`, `unavailable`, or `index_building` if a version being built will answer it.
 */
export async function parseForIndex(asked: IndexesAsked, query: IndexQuery, shards: number) {
  const index = await liveIndex(asked, query.index);
  try {
    return { index, parsed: parseQuery(query, index.definition, shards) };
  } catch (error) {
    if (!(error instanceof SchemalessError)) throw error;
    // Without a poll only the cache is known.
    const now = await asked.polls(query.index).catch(() => undefined);
    const live = versionOf(query.index, now?.versions, 'live');
    if (live && live.hash !== index.hash) {
      asked.topology.refresh();
      if (fits(query, live, shards)) return { index: live, parsed: parseQuery(query, live.definition, shards) };
    }
    const building = versionOf(query.index, now?.versions, 'building');
    if (now && building && fits(query, building, shards))
      throw beingBuilt(
        query.index,
        building.hash,
        now,
        `the definition of ${query.index} that can answer this is being built`,
      );
    throw error;
  }
}

export async function unknownIndex(
  topology: TopologySource,
  datastore: string,
  name: string,
): Promise<SchemalessError> {
  const catalogues = await topology.indexes(datastore);
  const known = catalogues
    .filter(({ versions }) => versions.some(({ state }) => state !== 'retired'))
    .map((one) => one.name);
  const got = JSON.stringify(name.slice(0, 60));
  return new SchemalessError(
    'unknown_index',
    `index: wanted one of ${known.join(', ') || '(none defined)'}, got ${got}`,
    { field: 'index', wanted: 'the name of an index', got },
  );
}

function beingBuilt(name: string, hash: string, { progress }: IndexNow, what: string): SchemalessError {
  const build = progress?.builds[hash];
  return new SchemalessError('index_building', `${what}${build ? `: ${build.done} of ${build.total} cells` : ''}`, {
    more: { index: name, progress: build ?? null },
  });
}

function versionOf(
  name: string,
  versions: readonly IndexVersion[] | undefined,
  wanted: IndexVersion['state'],
): PhysicalIndex | undefined {
  const found = versions?.findLast(({ state }) => state === wanted);
  return found && { name, hash: found.hash, definition: found.definition };
}

function fits(query: IndexQuery, { definition }: PhysicalIndex, shards: number): boolean {
  try {
    parseQuery(query, definition, shards);
    return true;
  } catch {
    return false;
  }
}
