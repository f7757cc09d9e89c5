import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { makeReadHandler } from '../../functions/read-cells.ts';
import { DEFINING_HANDLER, ROUTES } from '../../shared/api/operations.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway } from './support/gateway.ts';

/** Sends a request. Returns its answer, and the operations that it called. */
async function ask(method: string, path: string, body?: unknown) {
  const asked: unknown[][] = [];
  const answer = await gateway(fakeDeployment({}, [], asked))({
    method,
    path,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { answer, asked };
}

const APPLY = '/v1/definitions/apply';

describe('the routes of definitions', () => {
  it('take files as text and as what they say', async () => {
    const trigger = { trigger: 'send', datastore: 'shop', columns: '*' };
    const files = { 'shop/datastore.yaml': 'datastore: shop\nshards: 16\n', 'shop/triggers/send.yaml': trigger };
    const { answer, asked } = await ask('POST', APPLY, { files });
    expect(answer).toMatchObject({ status: 200, json: { done: true, dry_run: false, warnings: [] } });
    const shop = { name: 'shop', shards: 16, indexes: [], triggers: [{ name: 'send' }] };
    expect(asked).toMatchObject([['apply', { datastores: [shop] }, false]]);
  });

  it('say what will be regretted, and only what would be done where that is asked', async () => {
    const fields = [{ field: 'city', type: 'string' }];
    const index = { table: 'by_city', datastore: 'shop', column_defs: [{ column_key: 'BASE', fields }] };
    const files = { 'shop/datastore.yaml': { datastore: 'shop', shards: 16 }, 'shop/indexes/by_city.yaml': index };
    const { answer, asked } = await ask('POST', `${APPLY}?dry_run=true`, { files });
    const warnings = [{ file: 'shop/indexes/by_city.yaml', line: 1 }];
    expect(answer).toMatchObject({ status: 200, json: { done: false, dry_run: true, warnings } });
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

  it.each<[string, string, unknown[]]>([
    ['/v1/shop/indexes/by_buyer', 'by_buyer', ['deleteIndex', 'shop', 'by_buyer']],
    ['/v1/shop/triggers/send', 'send', ['deleteTrigger', 'shop', 'send']],
  ])('delete %s, where its name is confirmed', async (path, confirm, what) => {
    const confirmed = `${path}?confirm=${confirm}`;
    expect((await ask('DELETE', confirmed)).asked).toEqual([[...what, { confirm }]]);
    const forced = await ask('DELETE', `${confirmed}&force=true&dry_run=true`);
    expect(forced.asked).toEqual([[...what, { confirm, force: true, dry_run: true }]]);
    const { answer, asked } = await ask('DELETE', path);
    expect([answer.status, answer.json['field'], asked]).toEqual([400, 'confirm', []]);
    const odd = await ask('DELETE', `${confirmed}&force=yes`);
    expect(odd.answer.json).toMatchObject({ code: 'invalid_field', field: 'force' });
  });

  it('are answered that this goes by deploy where there is no function for them', async () => {
    const handler = makeReadHandler(() => fakeDeployment());
    const routes = ROUTES.filter((route) => route.handler === DEFINING_HANDLER);
    expect(routes).toHaveLength(3);
    for (const { method, path } of routes) {
      const requestContext = { requestId: 'r', http: { method, path } };
      const event = { routeKey: `${method} ${path}`, rawPath: path, rawQueryString: '', headers: {}, requestContext };
      const { statusCode, body } = await handler(event as unknown as APIGatewayProxyEventV2, {} as Context);
      const answer = expect.objectContaining({ code: 'managed_by_deployment', retry: 'never' });
      expect([statusCode, JSON.parse(body ?? '')]).toEqual([403, answer]);
    }
  });
});
