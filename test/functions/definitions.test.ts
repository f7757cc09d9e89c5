import './support/quiet.ts';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { makeReadHandler } from '../../functions/read-cells.ts';
import { DEFINING_HANDLER, ROUTES } from '../../shared/api/routes.ts';
import { fakeDefinitions } from './support/fake-definitions.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway, type GatewayAnswer } from './support/gateway.ts';

/** What a request was answered, and what it asked for. */
async function ask(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly answer: GatewayAnswer; readonly asked: unknown[][] }> {
  const asked: unknown[][] = [];
  const answer = await gateway({ ...fakeDeployment(), ...fakeDefinitions(asked) })({
    method,
    path,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { answer, asked };
}

const APPLY = '/v1/definitions/apply';
const SHOP = { name: 'shop', shards: 16, indexes: [], triggers: [] };

describe('the routes of definitions', () => {
  it('take files as text and as what they say', async () => {
    const trigger = { trigger: 'send', datastore: 'shop', columns: '*' };
    const files = { 'shop/datastore.yaml': 'datastore: shop\nshards: 16\n', 'shop/triggers/send.yaml': trigger };
    const { answer, asked } = await ask('POST', APPLY, { files });
    expect(answer).toMatchObject({ status: 200, json: { done: true, dry_run: false, warnings: [] } });
    expect(asked).toMatchObject([['apply', { datastores: [{ ...SHOP, triggers: [{ name: 'send' }] }] }, false]]);
  });

  it('say what will be regretted, and only what would be done where that is asked', async () => {
    const index = {
      table: 'by_city',
      datastore: 'shop',
      column_defs: [{ column_key: 'BASE', fields: [{ field: 'city', type: 'string' }] }],
    };
    const files = { 'shop/datastore.yaml': { datastore: 'shop', shards: 16 }, 'shop/indexes/by_city.yaml': index };
    const { answer, asked } = await ask('POST', `${APPLY}?dry_run=true`, { files });
    expect(answer).toMatchObject({
      status: 200,
      json: { done: false, dry_run: true, warnings: [{ file: 'shop/indexes/by_city.yaml', line: 1 }] },
    });
    expect(asked[0]?.[2]).toBe(true);
  });

  it('name every problem with its file and line, and ask for nothing then', async () => {
    const files = {
      'shop/datastore.yaml': 'datastore: shop\nshards: none\n',
      'shop/triggers/send.yaml': 'trigger: sent\ndatastore: shop\n',
    };
    const { answer, asked } = await ask('POST', APPLY, { files });
    expect(asked).toEqual([]);
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_definition', retry: 'never' } });
    expect(answer.json['problems']).toMatchObject([
      { file: 'shop/datastore.yaml', line: 2 },
      { file: 'shop/triggers/send.yaml', line: 1 },
      { file: 'shop/triggers/send.yaml', line: 1 },
    ]);
  });

  it.each<[string, unknown, string, string]>([
    ['nothing', undefined, 'missing_field', 'body'],
    ['no files', {}, 'missing_field', 'files'],
    ['an empty list of files', { files: {} }, 'invalid_field', 'files'],
    ['a list', { files: [] }, 'invalid_field', 'files'],
    ['another path', { files: { 'shop/index/a.yaml': '' } }, 'invalid_field', 'files'],
    ['a path that leads out', { files: { '../shop/datastore.yaml': '' } }, 'invalid_field', 'files'],
    ['a number for a file', { files: { 'shop/datastore.yaml': 3 } }, 'invalid_field', 'files.shop/datastore.yaml'],
    ['another member', { folder: 'x' }, 'unknown_field', 'folder'],
  ])('refuse %s', async (_what, body, code, field) => {
    const { answer, asked } = await ask('POST', APPLY, body);
    expect([answer.status, answer.json['code'], answer.json['field'], asked]).toEqual([400, code, field, []]);
  });

  it.each<[string, string, unknown[]]>([
    ['/v1/shop', 'shop', ['delete', 'shop']],
    ['/v1/shop/indexes/by_buyer', 'by_buyer', ['delete index', 'shop', 'by_buyer']],
    ['/v1/shop/triggers/send', 'send', ['delete trigger', 'shop', 'send']],
  ])('delete %s, where its name is confirmed', async (path, confirm, what) => {
    const options = { confirm, force: false, dry_run: false };
    expect((await ask('DELETE', `${path}?confirm=${confirm}`)).asked).toEqual([[...what, options]]);
    expect((await ask('DELETE', `${path}?confirm=${confirm}&force=true&dry_run=true`)).asked).toEqual([
      [...what, { confirm, force: true, dry_run: true }],
    ]);
    const { answer, asked } = await ask('DELETE', path);
    expect([answer.status, answer.json['field'], asked]).toEqual([400, 'confirm', []]);
    expect((await ask('DELETE', `${path}?confirm=${confirm}&force=yes`)).answer.json).toMatchObject({
      code: 'invalid_field',
      field: 'force',
    });
  });

  it('are answered that this goes by deploy where there is no function for them', async () => {
    const handler = makeReadHandler(() => fakeDeployment());
    const routes = ROUTES.filter((route) => route.handler === DEFINING_HANDLER);
    expect(routes).toHaveLength(4);
    for (const { method, path } of routes) {
      const event = {
        routeKey: `${method} ${path}`,
        rawPath: path,
        rawQueryString: '',
        headers: {},
        requestContext: { requestId: 'r', http: { method, path } },
      } as unknown as APIGatewayProxyEventV2;
      const { statusCode, body } = await handler(event, {} as Context);
      expect([statusCode, JSON.parse(body ?? '')]).toEqual([
        403,
        expect.objectContaining({ code: 'goes_by_deploy', retry: 'never' }),
      ]);
    }
  });
});
