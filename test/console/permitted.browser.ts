import { createServer, request as forward, type Server } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { serveConsole, type ServedConsole } from '../../infra/cli/console/serve-console.ts';
import { requestSigner } from '../../shared/client/sign-request.ts';
import { listen } from '../support/listen.ts';
import { browserTests } from './browser.ts';
import { consoleStack } from './console-stack.ts';

/** Selects the requests that the API refuses, as IAM does. The tests of the policies cover what each allows. */
let refused: (method: string, path: string) => boolean = () => false;
const { url, trips } = consoleStack({ groups: 1, readers: 0 });
let api: Server;
let apiUrl: string;
let served: ServedConsole;
const open = browserTests(() => served.origin);

beforeAll(async () => {
  api = createServer((request, response) => {
    const { method = 'GET', url: path = '/', headers } = request;
    if (refused(method, path)) {
      request.resume();
      response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"Forbidden"}');
      return;
    }
    const { hostname, port } = new URL(url());
    const sent = forward({ hostname, port, method, path, headers: { ...headers, host: `${hostname}:${port}` } });
    sent.on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)));
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  });
  apiUrl = await listen(api);
});
afterAll(() => {
  api.close();
  api.closeAllConnections();
});
afterEach(() => served.close());

async function serve(actions: boolean): Promise<Page> {
  const sign = requestSigner('eu-west-1', { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' });
  served = await serveConsole({ url: apiUrl, sign, actions, profile: 'prod', datastore: 'trips', port: 0 });
  const { page } = await open();
  await page.goto(served.address);
  await page.waitForSelector('main h1');
  await page.waitForSelector(`text=prod, ${actions ? 'actions on' : 'reads only'}`);
  return page;
}

const ROW = 'row/6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f1';

it('a console that only reads has no button that changes something', async () => {
  refused = () => false;
  const page = await serve(false);
  for (const screen of ['triggers/bill_rider', 'triggers/bill_rider/parked', 'shards/3', ROW, 'health']) {
    await page.goto(`${served.origin}/console#/trips/${screen}`);
    await page.waitForSelector('main h1');
    await page.waitForTimeout(500);
    expect(await page.locator('button.action').count()).toBe(0);
  }
});

it('a page shows that IAM refused an action, and does not offer it again', async () => {
  refused = (method, path) => method !== 'GET' || path.includes('/erasures');
  const page = await serve(true);
  await page.goto(`${served.origin}/console#/trips/triggers/bill_rider`);
  await page.click('button.action:has-text("Pause")');
  await page.click('dialog button.danger');
  await page.waitForSelector('dialog >> text=Refused by IAM');
  await page.click('dialog button:has-text("Close")');
  await page.waitForSelector('button.action:has-text("(refused)")');
  expect(await page.locator('button.action').first().isDisabled()).toBe(true);
  expect((await trips().getTrigger({ trigger: 'bill_rider' })).state).toBe('running');
  await page.goto(`${served.origin}/console#/trips/erasures`);
  await page.waitForSelector('main >> text=Refused by IAM');
});

it('the address opens one browser, and no other', async () => {
  refused = () => false;
  await serve(true);
  const other = await open();
  await other.page.goto(served.address);
  await other.page.waitForSelector('text=it works once');
  expect(await other.page.locator('nav').count()).toBe(0);
});
