import { createServer, type Server } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { listen } from '../../../support/listen.ts';
import { prove } from '../../../../infra/local/stack/proof.ts';

let server: Server | undefined;
/** The nodes that answer in place of the writer, one a request. */
let readFrom: string[] = [];
afterEach(() => void server?.close());

async function answering(...puts: readonly number[]): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const status = request.method === 'PUT' ? (puts[asked.length - 1] ?? 500) : 200;
    response.writeHead(status).end(
      JSON.stringify({
        shard: 3,
        added_id: 7,
        body: { started_by: 'npm start' },
        served_by: readFrom.pop() ?? 'writer',
      }),
    );
  });
  return { url: await listen(server), asked };
}

const sign = async () => ({});

it('a stack that buffers a put, or does not confirm it, at first is asked again', async () => {
  const { url, asked } = await answering(503, 202, 200);
  expect(await prove({ url, datastores: ['shop', 'smoke'], readers: false, sign })).toEqual([
    expect.stringMatching(/^wrote a cell into the datastore smoke: shard 3, added id 7, /u),
    expect.stringMatching(/^read it from the writer, /u),
  ]);
  expect(new Set(asked.map((request) => request.replace(/[\da-f-]{36}/u, 'ROW')))).toEqual(
    new Set(['PUT /v1/smoke/cells/ROW/STARTED/1', 'GET /v1/smoke/cells/ROW/STARTED/1']),
  );
});

it('a read that a reader answers at first is repeated', async () => {
  const { url } = await answering(201);
  readFrom = ['reader', 'reader'];
  expect(await prove({ url, datastores: ['smoke'], readers: false, sign })).toHaveLength(2);
  expect(readFrom).toEqual([]);
});

it('a refusal ends the start, and is reported', async () => {
  const { url } = await answering(409);
  await expect(prove({ url, datastores: ['smoke'], readers: false, sign })).rejects.toThrow(
    /^A cell could not be written: PUT \S+ was answered 409 /u,
  );
});
