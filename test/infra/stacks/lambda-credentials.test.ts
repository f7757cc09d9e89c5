import { createServer } from 'node:http';
import { afterEach, expect, it, vi } from 'vitest';
import { defaultProvider } from '../../../infra/stacks/bundled/lambda-credentials.ts';
import { listen } from '../../support/listen.ts';

afterEach(() => vi.unstubAllEnvs());

it('a function has the credentials of its environment', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIA');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('AWS_SESSION_TOKEN', 'token');
  expect(await defaultProvider()()).toEqual({ accessKeyId: 'AKIA', secretAccessKey: 'secret', sessionToken: 'token' });
});

it('a function whose environment has none asks where it is told to', async () => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'])
    vi.stubEnv(name, undefined);
  const asked: (string | undefined)[] = [];
  const server = createServer(({ headers }, response) => {
    asked.push(headers.authorization);
    const Expiration = asked.length === 1 ? '1999-01-01T00:00:00Z' : '2999-01-01T00:00:00Z';
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ AccessKeyId: 'ASIA', SecretAccessKey: 's', Token: 't', Expiration }));
  });
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', await listen(server));
  vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', 'of this instance');
  try {
    const provider = defaultProvider();
    expect(await provider()).toMatchObject({ accessKeyId: 'ASIA', secretAccessKey: 's', sessionToken: 't' });
    // Requests side by side find them expired, and share the next.
    await Promise.all(Array.from({ length: 64 }, () => provider()));
    expect(asked).toEqual(['of this instance', 'of this instance']);
  } finally {
    server.close();
  }
});
