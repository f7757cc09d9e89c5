import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startDataApi } from '../../../infra/local/data-api/data-api.ts';
import { startDynamoDb } from '../../../infra/local/emulators/dynamodb.ts';
import { userIn } from '../../../infra/local/server.ts';
import { startSecretsManager } from '../../../infra/local/emulators/secrets-manager.ts';
import { startSqs } from '../../../infra/local/emulators/sqs.ts';
import { localArn } from '../../../infra/local/arn.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';

const folder = folderOfTests();

const PAGE = 'http://elsewhere.example';

/** A header that a browser sends without a preflight, and other clients as well. */
const SIMPLE = { 'content-type': 'application/x-www-form-urlencoded' };
const GET_SECRET = { 'x-amz-target': 'secretsmanager.GetSecretValue' };

interface Started {
  readonly url: string;
  close(): Promise<unknown>;
}

async function startSecrets(): Promise<Started> {
  const server = await startSecretsManager();
  server.setSecrets(new Map([[localArn('secretsmanager', 'secret:root'), 'sEcReT']]));
  return server;
}

async function startData(): Promise<Started> {
  const api = await startDataApi({ login: () => undefined });
  return { url: `${api.url}/Execute`, close: api.stop };
}

describe.each<[string, (folder: string) => Promise<Started>, Record<string, string>, string]>([
  ['dynamodb', (own) => startDynamoDb(own, 0), { 'x-amz-target': 'DynamoDB_20120810.ListTables' }, '{}'],
  ['sqs', (own) => startSqs(own, 0), SIMPLE, 'Action=CreateQueue&QueueName=of-a-page'],
  ['secrets', startSecrets, GET_SECRET, '{"SecretId":"root"}'],
  ['data-api', startData, SIMPLE, '{"resourceArn":"a","secretArn":"b","sql":"SELECT 1"}'],
])('%s', (name, start, headers, body) => {
  async function started(): Promise<Started> {
    const emulator = await start(`${folder.path}/${name}`);
    onTestFinished(async () => void (await emulator.close()));
    return emulator;
  }
  const asked = ({ url }: Started, more: Record<string, string> = {}): Promise<Response> =>
    fetch(url, { method: 'POST', headers: { ...headers, ...more }, body });

  it('does nothing for a web page, whichever asks, and tells a browser that none may', async () => {
    const emulator = await started();
    for (const headersOf of [{ origin: PAGE }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
      const refused = await asked(emulator, headersOf);
      expect([refused.status, await refused.json()]).toEqual([403, { message: expect.any(String) }]);
      expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    }
    const desired = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-amz-target' };
    const preflight = await fetch(emulator.url, { method: 'OPTIONS', headers: { origin: PAGE, ...desired } });
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    // The answers of the service itself are not of interest here.
    expect((await asked(emulator)).status).not.toBe(403);
  });

  it('does nothing for a page whose name leads to this machine', async () => {
    const { hostname, port, pathname } = new URL((await started()).url);
    const socket = createConnection(Number(port), hostname);
    const lines = [`POST ${pathname} HTTP/1.1`, `host: rebound.example:${port}`, 'connection: close'];
    for (const [header, value] of Object.entries(headers)) lines.push(`${header}: ${value}`);
    socket.write(`${lines.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 [^]*host: wanted localhost/u);
  });

  const canTell = process.platform === 'linux' && process.getuid?.() === 0;
  const hasSecrets = ['secrets', 'data-api'].includes(name);
  it.runIf(canTell && hasSecrets)(
    'tells no secret to another user of the machine (with root, on Linux alone)',
    async () => {
      const { url } = await started();
      const ask = `fetch(${JSON.stringify(url)}, ${JSON.stringify({ method: 'POST', headers, body })}).then((answer) => answer.text()).then(console.log, () => console.log('refused'))`;
      const answerTo = async (uid: number): Promise<string> => {
        // It becomes that user only then: the checkout, with its Node, may be in a folder that others cannot enter.
        const script = `process.setuid(${uid});${ask}`;
        const asking = spawn(process.execPath, ['-e', script], { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
        const [answer] = await Promise.all([text(asking.stdout), once(asking, 'exit')]);
        return answer.trim();
      };
      expect(await answerTo(65_534)).toBe('refused');
      expect(await answerTo(0)).not.toBe('refused');
    },
  );
});

describe('the user of a connection', () => {
  const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0
   1: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 12 1 0
   2: 0200007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1002        0 13 1 0
   3: 0100007F:C003 0100007F:1F90 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0
   4: 0000000000000000FFFF00000100007F:C004 0000000000000000FFFF00000100007F:1F90 01 0:0 0:0 0 1004 0 14 1 0`;

  it.each([
    ['127.0.0.1', 0xc0_01, 1001],
    ['127.0.0.2', 0xc0_01, 1002],
    ['127.0.0.1', 0xc0_04, 1004],
    // Closed already, so that the system says 0 for any user.
    ['127.0.0.1', 0xc0_03, undefined],
    ['127.0.0.1', 0xc0_09, undefined],
  ])('at %s:%i is %s', (remoteAddress, remotePort, user) => {
    expect(userIn(TABLE, { remoteAddress, remotePort, localPort: 0x1f_90 })).toBe(user);
  });
});
