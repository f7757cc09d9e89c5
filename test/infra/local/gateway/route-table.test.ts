import { describe, expect, it } from 'vitest';
import { routeTable } from '../../../../infra/local/gateway/route-table.ts';
import { ROUTES } from '../../../../shared/api/operations.ts';

const table = routeTable(
  [
    ...ROUTES.map(({ method, path }) => `${method} ${path}`),
    'GET /v1/{datastore}/files/{proxy+}',
    'ANY /any/{thing}',
    'POST /any/special',
  ].map((routeKey) => ({ routeKey, target: routeKey })),
);

const match = (method: string, path: string) => table.match(method, path.slice(1).split('/'));

describe('routes are chosen as API Gateway does', () => {
  const CELL = 'GET /v1/{datastore}/cells/{row_key}/{column_name}';
  const of = { datastore: 'trips', row_key: 'k', column_name: 'BASE' };

  it.each<[string, string, string | undefined, Record<string, string>?]>([
    ['GET', '/v1/health', 'GET /v1/health', {}],
    ['GET', '/v1/trips/cells/k/BASE', CELL, of],
    ['GET', '/v1/trips/cells/k/BASE/7', `${CELL}/{ref_key}`, { ...of, ref_key: '7' }],
    ['GET', '/v1/trips/cells/k/BASE/versions', `${CELL}/versions`, of],
    [
      'PUT',
      '/v1/trips/cells/k/BASE/versions',
      'PUT /v1/{datastore}/cells/{row_key}/{column_name}/{ref_key}',
      { ...of, ref_key: 'versions' },
    ],
    ['GET', '/v1/trips/shards/3/cells', 'GET /v1/{datastore}/shards/{shard}/cells', { datastore: 'trips', shard: '3' }],
    // A literal that leads nowhere does not hide the parameter next to it.
    ['GET', '/v1/health/shards', 'GET /v1/{datastore}/shards', { datastore: 'health' }],
    ['GET', '/v1/trips/files/a/b/c', 'GET /v1/{datastore}/files/{proxy+}', { datastore: 'trips', proxy: 'a/b/c' }],
    ['DELETE', '/any/x', 'ANY /any/{thing}', { thing: 'x' }],
    ['POST', '/any/special', 'POST /any/special', {}],
    ['POST', '/v1/health', undefined],
    ['GET', '/v1/trips/shards/', undefined],
    ['GET', '/v1//shards', undefined],
    ['GET', '/', undefined],
  ])('%s %s', (method, path, routeKey, parameters) => {
    expect(match(method, path)).toEqual(
      routeKey === undefined ? undefined : { routeKey, target: routeKey, parameters },
    );
  });

  it('falls back to $default', () => {
    const withDefault = routeTable([
      { routeKey: '$default', target: 1 },
      { routeKey: 'GET /a', target: 2 },
    ]);
    expect(withDefault.match('GET', ['a'])?.target).toBe(2);
    expect(withDefault.match('POST', ['a'])?.target).toBe(1);
  });

  it('refuses a route key that it cannot read', () => {
    expect(() => routeTable([{ routeKey: 'get /a', target: 1 }])).toThrow(
      'route key: wanted a method and a path, got "get /a"',
    );
  });
});
