import { expect, it, onTestFinished } from 'vitest';
import { startDataApi } from '../../../../infra/local/data-api/data-api.ts';

const FAULT = { kind: 'throttled', count: 1 };

it('no web page runs a statement or sets a fault, though a browser sends both without asking first', async () => {
  const api = await startDataApi({
    clusters: () => ({ host: '127.0.0.1', port: 1, user: 'nobody', password: '' }),
  });
  onTestFinished(() => api.stop());
  const ask = async (path: string, body: object, headers: Record<string, string>): Promise<number> => {
    const text = { 'content-type': 'text/plain', ...headers };
    return (await fetch(`${api.url}${path}`, { method: 'POST', headers: text, body: JSON.stringify(body) })).status;
  };
  const statement = { resourceArn: 'arn:aws:rds:a', secretArn: 'arn:aws:secretsmanager:a', sql: 'SELECT 1' };
  for (const origin of ['http://elsewhere.example', 'null'])
    for (const [path, body] of [
      ['/Execute', statement],
      ['/_faults', FAULT],
    ] as const)
      expect([path, await ask(path, body, { origin })]).toEqual([path, 403]);
  expect(api.faults.status().filter(({ count }) => count > 0)).toEqual([]);
  expect(await ask('/_faults', FAULT, {})).toBe(200);
});
