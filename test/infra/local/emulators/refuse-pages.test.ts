import { describe, expect, it, onTestFinished } from 'vitest';
import { startDynamoDb } from '../../../../infra/local/emulators/dynamodb.ts';
import type { Emulator } from '../../../../infra/local/emulators/emulator.ts';
import { startSqs } from '../../../../infra/local/emulators/sqs.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const folder = folderOfTests();

const PAGE = 'http://elsewhere.example';

/** What a browser sends without asking first, and what others send as well. */
const SIMPLE = { 'content-type': 'application/x-www-form-urlencoded' };

async function asked(emulator: Emulator, headers: Record<string, string>, body: string): Promise<Response> {
  return fetch(emulator.url, { method: 'POST', headers, body });
}

describe.each([
  ['dynamodb', startDynamoDb, { 'x-amz-target': 'DynamoDB_20120810.ListTables' }, '{}'],
  ['sqs', startSqs, SIMPLE, 'Action=CreateQueue&QueueName=of-a-page'],
] as const)('%s', (name, start, headers, body) => {
  it('does nothing for a web page, whichever asks, and tells a browser that none may', async () => {
    const emulator = await start(`${folder.path}/${name}`, 0);
    onTestFinished(() => emulator.close());
    for (const headersOf of [{ origin: PAGE }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
      const refused = await asked(emulator, { ...headers, ...headersOf }, body);
      expect([refused.status, await refused.json()]).toEqual([403, { message: expect.any(String) }]);
      expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    }
    const preflight = await fetch(emulator.url, {
      method: 'OPTIONS',
      headers: {
        origin: PAGE,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-amz-target',
      },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    // The answers of the service itself are not of interest here.
    const own = await asked(emulator, headers, body);
    expect(own.status).not.toBe(403);
  });
});
