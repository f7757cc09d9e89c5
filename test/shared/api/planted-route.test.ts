import { afterAll, afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { answeredBy } from '../../../functions/http/answering.ts';
import { httpHandler } from '../../../functions/http/handler.ts';
import { api } from '../../../infra/cli/commands/api.ts';
import { buildProgram } from '../../../infra/cli/cli.ts';
import { integer, maybe, members, textOf } from '../../../shared/api/input.ts';
import { openApi } from '../../../shared/api/openapi.ts';
import { operationsFor, ROUTES } from '../../../shared/api/operations.ts';
import { operations, type Methods } from '../../../shared/api/operation.ts';
import { COUNT, object, TEXT } from '../../../shared/api/shape.ts';
import { clientOf } from '../../../shared/client/api-client.ts';
import { fakeApi } from '../../infra/cli/fake-api.ts';
import type { Document } from './support/answer-check.ts';

/** A route as a developer adds it: its declaration and its handler. */
const PLANTED = operations({
  nameShard: {
    method: 'POST',
    path: '/v1/{datastore}/shards/{shard}/name',
    handler: 'write-cells',
    mayCall: ['movers'],
    summary: 'Give a shard a name',
    body: members({ name: textOf('^[a-z]+$', 'a word in lower case'), copies: maybe(integer(1, 3)) }),
    answers: {
      200: { means: 'It has it.', body: object({ name: TEXT, shard: COUNT }), example: { name: 'a', shard: 1 } },
    },
    errors: ['unknown_shard'],
  },
});

/** The one line of `shared/api/operations.ts`. */
const ALL = ROUTES as unknown as object[];
ALL.push({ ...PLANTED.nameShard, operation: 'nameShard' });
afterAll(() => void ALL.pop());

const named: Methods<typeof PLANTED> = { nameShard: async ({ shard, name }) => ({ shard, name }) };
const handler = httpHandler(
  PLANTED,
  answeredBy(PLANTED, async () => named),
  () => undefined,
);

const { requests, command } = fakeApi(() => [200, { shard: 3, name: 'faro' }]);

async function post(shard: string, body: string): Promise<{ readonly status: number; readonly json: object }> {
  const result = await handler(
    {
      routeKey: 'POST /v1/{datastore}/shards/{shard}/name',
      rawPath: `/v1/trips/shards/${shard}/name`,
      rawQueryString: '',
      headers: {},
      pathParameters: { datastore: 'trips', shard },
      requestContext: { requestId: 'one', http: { method: 'POST' } },
      body,
      isBase64Encoded: false,
    } as unknown as APIGatewayProxyEventV2,
    {} as Context,
  );
  return { status: result.statusCode ?? 0, json: JSON.parse(result.body ?? '{}') as object };
}

describe('an operation that is declared', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('is served, and refuses what does not fit', async () => {
    expect(await post('3', '{"name":"lisbon"}')).toEqual({ status: 200, json: { shard: 3, name: 'lisbon' } });
    expect((await post('3', '{"name":"Lisbon"}')).json).toMatchObject({
      code: 'invalid_field',
      detail: 'name: wanted a word in lower case, got "Lisbon"',
    });
    expect((await post('3', '{"name":"a","colour":1}')).json).toMatchObject({ code: 'unknown_field', field: 'colour' });
    expect((await post('x', '{"name":"a"}')).json).toMatchObject({ code: 'invalid_field', field: 'shard' });
  });

  it('is documented', () => {
    const document = openApi({ isSigned: false }) as unknown as Document;
    expect(document.paths['/v1/{datastore}/shards/{shard}/name']?.['post']).toMatchObject({
      operationId: 'nameShard',
      requestBody: {
        content: {
          'application/json': {
            schema: {
              properties: { name: { pattern: '^[a-z]+$' }, copies: { minimum: 1, maximum: 3 } },
              required: ['name'],
              additionalProperties: false,
            },
          },
        },
      },
      responses: { 200: expect.anything() as unknown, 404: expect.anything() as unknown },
    });
  });

  it('is a method of the client, with its types', async () => {
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { status, json } = await post(String(input).split('/').at(-2) ?? '', String(init?.body));
      return new Response(JSON.stringify(json), { status, headers: { 'content-type': 'application/json' } });
    };
    const client = clientOf(PLANTED, { url: 'http://gateway.test', datastore: 'trips', fetch });
    expectTypeOf(client.nameShard).parameter(0).toEqualTypeOf<{
      readonly shard: number;
      readonly name: string;
      readonly copies?: number | undefined;
    }>();
    const answer = await client.nameShard({ shard: 3, name: 'porto' });
    expectTypeOf(answer).toEqualTypeOf<{ readonly name: string; readonly shard: number }>();
    expect(answer).toEqual({ shard: 3, name: 'porto' });
  });

  it('is in the policies of the roles that may call it', () => {
    expect(operationsFor('movers')).toContain('nameShard');
    expect(operationsFor('readers')).not.toContain('nameShard');
  });

  it('is called by its name from the command line', async () => {
    const written: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((text: unknown, ...rest: readonly unknown[]) => {
      written.push(String(text));
      for (const done of rest) if (typeof done === 'function') done();
      return true;
    });
    const argv = command('api', 'nameShard', 'shard=3', 'name=faro', 'copies=2');
    await buildProgram([api]).parseAsync(argv, { from: 'user' });
    expect(requests).toEqual([['POST', '/v1/trips/shards/3/name', { name: 'faro', copies: 2 }]]);
    expect(written.join('')).toContain('faro');
  });
});
