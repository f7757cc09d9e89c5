import { createServer, type RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listen } from '../listen.ts';
import { stubEnvironment } from '../stub-environment.ts';
import { reachEnvironment } from './reach.ts';

const NODE = { state: 'up', served_by: 'reader', milliseconds: 1, circuit: 'closed' };
const HEALTH = {
  status: 'ok',
  instance: 'a',
  groups: [{ group: 'group-1', writer: { ...NODE, served_by: 'writer' }, reader: NODE }],
};

beforeEach(() => {
  // Hides the configuration of the machine's owner.
  stubEnvironment({
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: '',
    AWS_PROFILE: '',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  });
});
afterEach(() => void vi.unstubAllEnvs());

/** Returns the result of reaching an API that gives these answers, by path. */
async function reach(answers: Readonly<Record<string, readonly [number, unknown]>>, patienceMs = 0): Promise<unknown> {
  const listener: RequestListener = ({ url = '', headers }, response) => {
    const [status, body] = answers[url] ?? [404, { message: 'Not Found' }];
    response
      .writeHead(headers.authorization === undefined ? 403 : status)
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const server = createServer(listener);
  const url = await listen(server);
  try {
    return await reachEnvironment({ url, region: 'eu-west-1' }, patienceMs).catch((error: unknown) =>
      error instanceof Error ? error.message.replaceAll(url, 'URL') : error,
    );
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe('an environment', () => {
  it('is reached with a signed request, and says how many shards it has and whether readers', async () => {
    const answers = {
      '/v1/health': [200, HEALTH],
      '/v1/smoke/shards': [200, { shards: [{ shard: 0 }, { shard: 1 }] }],
    } as const;
    expect(await reach(answers)).toMatchObject({ region: 'eu-west-1', accessKeyId: 'AKID', shards: 2, readers: true });
    const writerOnly = { ...HEALTH, groups: [{ ...HEALTH.groups[0], reader: HEALTH.groups[0]?.writer }] };
    expect(await reach({ ...answers, '/v1/health': [200, writerOnly] })).toMatchObject({ readers: false });
  });

  it.each<[string, Parameters<typeof reach>[0], RegExp]>([
    [
      'does not allow the caller',
      { '/v1/health': [403, { message: 'Forbidden' }] },
      /^URL\/v1\/health was answered 403: the access key AKID may not call it \(attach the policies readers and clients-smoke\), or its secret is another, or the region is not eu-west-1$/u,
    ],
    [
      'is another API',
      { '/v1/health': [200, 'well\nwell'] },
      /^URL: wanted the API of a Schemaless environment, got 200 for \/v1\/health$/u,
    ],
    ['has no such path', {}, /^URL: wanted the API of a Schemaless environment, got 404 for \/v1\/health$/u],
    [
      'is down',
      { '/v1/health': [503, { status: 'down' }] },
      /^URL\/v1\/health is still answered 503 after 0 s: \{"status":"down"\}$/u,
    ],
    [
      'is older than the datastore',
      { '/v1/health': [200, HEALTH], '/v1/smoke/shards': [404, { code: 'unknown_datastore' }] },
      /^URL has no datastore smoke: deploy infra\/datastores\/smoke with it$/u,
    ],
    [
      'allows only half of it',
      { '/v1/health': [200, HEALTH], '/v1/smoke/shards': [403, { message: 'Forbidden' }] },
      /^URL\/v1\/smoke\/shards was answered 403/u,
    ],
  ])('that %s is named in one line', async (_, answers, message) => {
    expect(await reach(answers)).toMatch(message);
  });

  it('that does not answer is named in one line', async () => {
    await expect(reachEnvironment({ url: 'http://nowhere.invalid', region: 'eu-west-1' })).rejects.toThrow(
      /^http:\/\/nowhere\.invalid does not answer: getaddrinfo \S+ nowhere\.invalid$/u,
    );
    await expect(reachEnvironment({ url: 'http://127.0.0.1:1', region: 'eu-west-1' })).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:1 does not answer: [^\n]*$/u,
    );
  });

  it('is not reached without credentials', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', '');
    await expect(reachEnvironment({ url: 'http://nowhere.invalid', region: 'eu-west-1' })).rejects.toThrow(
      /^credentials: wanted some in the environment [^\n]*, got none: [^\n]+$/u,
    );
  });
});
