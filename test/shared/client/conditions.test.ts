import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Where } from '../../../shared/where.ts';
import { defineDatastore } from '../../../shared/client/datastore-definition.ts';
import { openDatastore } from '../../../shared/client/open-datastore.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { defineModel } from '../../../shared/models/model.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { gateway, gatewayFetch } from '../../functions/support/gateway.ts';

const index = 'driver_index';
const shardOn = { driver_uuid: 'UUID' } as const;
const fields = { city: 'string', riders: 'integer', created_at: 'datetime', 'fare.total': 'number' } as const;
type Field = keyof typeof fields;

const driver_uuid = randomUUID();
const rows = Array.from({ length: 12 }, (_, at) => ({
  row_key: randomUUID(),
  city: ['Lisbon', 'Porto', '3', 'true', '[object Object]', ''][at % 6] ?? '',
  riders: at % 4,
  created_at: new Date(Date.UTC(2026, 0, 1 + at)).toISOString(),
  'fare.total': at / 2,
}));
const options = { url: 'http://store.test', attempts: 1, fetch: gatewayFetch(gateway(fakeDeployment())) };
const store = openDatastore(
  defineDatastore({ name: 'trips', columns: { BASE: z.looseObject({}) }, indexes: { [index]: { shardOn, fields } } }),
  options,
);
await store.putAll(
  rows.map(({ row_key, 'fare.total': total, ...row }) => ({
    row_key,
    column_name: 'BASE',
    ref_key: 0,
    body: { driver_uuid, ...row, fare: { total } },
  })),
);
const record = z.looseObject({ driver_uuid: z.string(), city: z.string(), created_at: z.string(), riders: z.int() });
const { 'fare.total': _path, ...members } = fields;
const model = defineModel({
  name: 'trip',
  datastore: store.client,
  cells: { base: record },
  primary: { index, shardOn, fields: members },
});

const WAYS: readonly ((where: Where) => Promise<readonly string[]>)[] = [
  async (where) => (await store.client.query({ index, where })).entries.map(({ row_key }) => row_key),
  async (where) => (await store.query(index, { where: where as never })).entries.map(({ row_key }) => row_key),
  async (where) => (await model.where(where as never).toArray()).map(({ uuid }) => uuid),
];

/** The documented order of a value of a field, as text is read there; undefined if it is no value of it. */
function read(value: unknown, type: string): string | number | undefined {
  const text = value instanceof Date ? value.toISOString() : String(value);
  if (type === 'string') return Buffer.from(text).toString('hex');
  if (type === 'datetime') return Date.parse(text);
  return Number(text);
}

const OPERATORS: Readonly<Record<string, (one: string | number, other: string | number) => boolean>> = {
  eq: (one, other) => one === other,
  ne: (one, other) => one !== other,
  lt: (one, other) => one < other,
  lte: (one, other) => one <= other,
  gt: (one, other) => one > other,
  gte: (one, other) => one >= other,
};

function isScalar(value: unknown): boolean {
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (typeof value === 'string') return value.isWellFormed();
  return Number.isFinite(value) || ['bigint', 'boolean'].includes(typeof value);
}

/** Returns a condition's operators and values, as documented; undefined for what is none. */
function meant(value: unknown): readonly [operator: string, values: readonly unknown[]][] | undefined {
  if (isScalar(value)) return [['eq', [value]]];
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(Object(value)));
  const names = isPlain ? Reflect.ownKeys(Object(value)) : [];
  if (typeof value !== 'object' || names.length === 0) return undefined;
  const all = names.map((name): [string, readonly unknown[]] => {
    const of = (value as Record<PropertyKey, unknown>)[name];
    return [String(name), name === 'in' ? (Array.isArray(of) ? [...of] : []) : [of]];
  });
  const isKnown = all.every(
    ([name, values]) =>
      (name === 'in' || name in OPERATORS) && values.length > 0 && values.length <= 100 && values.every(isScalar),
  );
  return isKnown ? all : undefined;
}

function matching(field: Field, value: unknown): readonly string[] | undefined {
  const conditions = meant(value);
  return (
    conditions &&
    rows
      .filter((row) =>
        conditions.every(([operator, values]) =>
          values.some((one) => {
            const [kept, given] = [read(row[field], fields[field]), read(one, fields[field])];
            return kept !== undefined && given !== undefined && (OPERATORS[operator] ?? OPERATORS['eq'])?.(kept, given);
          }),
        ),
      )
      .map(({ row_key }) => row_key)
  );
}

const scalar = fc.oneof(
  fc.constantFrom(...rows.flatMap((row) => [row.city, row.riders, row.created_at, row['fare.total']])),
  fc.constantFrom<unknown>(3n, '3', 'true', new Date(Date.UTC(2026, 0, 5)), -0, '2026-01-03T00:00:00+00:00'),
);
const anything = fc.oneof(
  fc.anything({
    withDate: true,
    withMap: true,
    withSet: true,
    withBigInt: true,
    withBoxedValues: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
  }),
  fc.constantFrom<unknown>(
    undefined,
    null,
    Number.NaN,
    Symbol('x'),
    () => 1,
    new URL('http://a.test'),
    new Date(Number.NaN),
    /x/u,
  ),
);
const value = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 4, arbitrary: anything },
  {
    weight: 6,
    arbitrary: fc.dictionary(
      fc.constantFrom(...Object.keys(OPERATORS), 'in'),
      fc.oneof(scalar, anything, fc.array(fc.oneof(scalar, anything), { maxLength: 3 })),
      { maxKeys: 2 },
    ),
  },
  { weight: 3, arbitrary: fc.record({ in: fc.array(scalar, { minLength: 1, maxLength: 3 }) }) },
);

it('any value in any condition filters as documented, or is refused: 10,000 draws, plain, typed and by models', async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Field>(...(Object.keys(members) as Field[]), 'fare.total'),
      value,
      fc.nat(2),
      async (field, given, way) => {
        const wanted = matching(field, given);
        const found = await WAYS[way]?.({ driver_uuid, [field]: given } as Where).catch((error: unknown) => {
          expect(error).toBeInstanceOf(SchemalessError);
          expect(error).toMatchObject({ code: expect.stringMatching(/^(invalid|unknown)_field$/u) });
          expect((error as SchemalessError).field).toContain(field);
        });
        if (!found) return;
        answered += 1;
        expect(found.toSorted()).toEqual(wanted?.toSorted());
      },
    ),
    { numRuns: 10_000 },
  );
  expect(answered).toBeGreaterThan(1000);
});
