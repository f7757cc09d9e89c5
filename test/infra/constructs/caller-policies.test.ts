import { describe, expect, it } from 'vitest';
import { pattern } from '../../../infra/local/iam/statement.ts';
import { isPathColumnName } from '../../../shared/address.ts';
import { operationsFor, ROUTES, type OperationName } from '../../../shared/api/operations.ts';
import { DATASTORE_NAME, INDEX_NAME, TRIGGER_NAME } from '../../../shared/definitions/definitions.ts';

const WORDS = [...new Set(ROUTES.flatMap(({ path }) => path.split('/')).filter((part) => /^[a-z]/u.test(part)))];

/** The values of each parameter of a request's path: words of routes wherever they are taken. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  datastore: ['trips', 'other', ...WORDS.filter((word) => DATASTORE_NAME.test(word))],
  row_key: ['6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0'],
  column_name: ['BASE', ...WORDS.filter(isPathColumnName)],
  ref_key: ['1'],
  shard: ['7'],
  index: ['by_driver', ...WORDS.filter((word) => INDEX_NAME.test(word))],
  trigger: ['bill', ...WORDS.filter((word) => TRIGGER_NAME.test(word))],
  erasure: ['7-1'],
};

function pathsOf(path: string): readonly string[] {
  const name = /\{(\w+)\}/u.exec(path)?.[1];
  if (name === undefined) return [path];
  return (VALUES[name] ?? []).flatMap((value) => pathsOf(path.replace(`{${name}}`, value)));
}

/** As `arnsOf` of `infra/constructs/store-api.ts` makes resources of operations. */
function resourcesOf(datastore: string, operations: readonly OperationName[]): readonly RegExp[] {
  return ROUTES.filter(({ operation }) => operations.includes(operation)).map(({ method, path }) =>
    pattern(`${method}${path.replace('{datastore}', datastore).replaceAll(/\{\w+\}/gu, '*')}`, ''),
  );
}

describe.each<[string, string, readonly OperationName[]]>([
  ['readers', '*', operationsFor('readers')],
  ['movers', '*', operationsFor('movers')],
  ['erasers', '*', operationsFor('erasers')],
  ['clients-trips', 'trips', operationsFor('clients')],
])('the policy %s', (_policy, datastore, operations) => {
  it('allows no operation that it does not name, whatever columns, indexes and triggers are called', () => {
    const resources = resourcesOf(datastore, operations);
    const allowed = ROUTES.flatMap(({ operation, method, path }) =>
      pathsOf(path)
        .filter((one) => !operations.includes(operation) || (datastore !== '*' && !one.startsWith(`/v1/${datastore}/`)))
        .map((one) => `${method}${one}`),
    ).filter((call) => resources.some((resource) => resource.test(call)));
    expect(allowed).toEqual([]);
  });
});
