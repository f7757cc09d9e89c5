import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { keyStore } from '../../../functions/environment/root-key.ts';
import { requireRoot } from '../../../shared/sealed/key-store.ts';
import { listen } from '../../support/listen.ts';

let server: Server;
let secret = '';

beforeAll(async () => {
  server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify({ SecretString: secret }));
  });
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', await listen(server));
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.close();
});

const rootSecret = 'arn:aws:secretsmanager:us-east-1:123456789012:secret:Secretrootkey';
const roots = () => requireRoot(keyStore({ keysTable: 'keys', rootSecret }))();
const root = async () => (await roots())[0] ?? Buffer.of();

it('the root key is 32 bytes of the text of its secret, the same each time', async () => {
  secret = JSON.stringify({ key: 'k'.repeat(64) });
  const key = Buffer.from(await root());
  expect(key).toHaveLength(32);
  expect(Buffer.from(await root()).equals(key)).toBe(true);
  secret = JSON.stringify({ key: 'l'.repeat(64) });
  expect(Buffer.from(await root()).equals(key)).toBe(false);
});

it('the former root key is known as well as the current one, while keys are rotated', async () => {
  secret = JSON.stringify({ key: 'l'.repeat(64) });
  const [former] = await roots();
  secret = JSON.stringify({ key: 'm'.repeat(64), former: 'l'.repeat(64) });
  expect((await roots()).map((key) => Buffer.from(key).equals(former ?? Buffer.of()))).toEqual([false, true]);
});

it.each([
  ['no JSON', 'planted-mark'],
  ['another member', '{"password": "planted-mark"}'],
  ['too short a text', '{"key": "planted-mark"}'],
  ['nothing', ''],
])('a secret of %s is no root key, and is not told', async (_what, text) => {
  secret = text;
  const error: unknown = await root().catch((thrown: unknown) => thrown);
  expect(String(error)).toMatch(/Secretrootkey: wanted JSON with the string key/u);
  expect(String(error)).not.toContain('planted');
});

it('without a root secret it fails at once, and no retry helps', () => {
  const none = keyStore({ keysTable: 'keys', rootSecret: 'none' });
  expect(none.root).toBeUndefined();
  expect(() => requireRoot(none)).toThrow(expect.objectContaining({ code: 'no_root_key', retry: 'never' }));
});
