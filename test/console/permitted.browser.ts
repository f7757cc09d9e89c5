import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_ACTIONS } from '../../infra/cli/console/passing.ts';
import { serveConsole, type ServedConsole } from '../../infra/cli/console/serve-console.ts';
import { ROUTES } from '../../shared/api/routes.ts';
import { requestSigner } from '../../shared/client/sign-request.ts';
import { browserTests } from './browser.ts';
import { consoleStack } from './console-stack.ts';
import { judgedApi, type JudgedApi } from './judged-api.ts';

const { url, trips, data } = consoleStack({ groups: 1, readers: 0 });
let api: JudgedApi;
let served: ServedConsole;
const open = browserTests(() => served.origin);

beforeAll(async () => {
  api = await judgedApi(url(), join(data, 'cdk.out'));
});
afterAll(() => api.close());

async function serve(policy: string, actions: boolean): Promise<void> {
  const sign = requestSigner('eu-west-1', { accessKeyId: api.keyOf(policy), secretAccessKey: 'secret' });
  served = await serveConsole({ url: api.url, sign, actions, profile: policy, datastore: 'trips', port: 0 });
}

/** Sends each request that would change something as the page would, past its buttons. */
function tryEachAction(page: Page): Promise<readonly (readonly [operation: string, status: number])[]> {
  const requests = ROUTES.filter(({ operation }) => (CONSOLE_ACTIONS as readonly string[]).includes(operation)).map(
    ({ operation, method, path }) => ({
      operation,
      method,
      path: path.replace('{datastore}', 'trips').replace('{trigger}', 'bill_rider').replace('{shard}', '3'),
    }),
  );
  return page.evaluate(async (all) => {
    const token = localStorage.getItem('schemaless-console-token') ?? '';
    const answers: [string, number][] = [];
    for (const { operation, method, path } of all) {
      const headers = { 'content-type': 'application/json', 'x-console-token': token };
      answers.push([operation, (await fetch(path, { method, headers, body: '{}' })).status]);
    }
    return answers;
  }, requests);
}

const SCREENS = [
  'triggers/bill_rider',
  'triggers/bill_rider/parked',
  'shards/3',
  'row/6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f1',
  'health',
];

describe.each([
  ['readers', false],
  ['readers', true],
  ['movers', true],
  ['operators', false],
])('with the policy %s, actions: %s', (policy, actions) => {
  beforeAll(() => serve(policy, actions));
  afterAll(() => served.close());

  it('nothing is written that is not permitted', async () => {
    const { page } = await open();
    await page.goto(served.address);
    await page.waitForSelector('main h1');
    const may = policy === 'movers' ? /Move$/u : /^$/u;
    const refused = (await tryEachAction(page)).filter(([operation]) => !may.test(operation));
    expect(refused.length).toBeGreaterThan(7);
    expect(refused.filter(([, status]) => status !== 403)).toEqual([]);
    expect(await trips().trigger('bill_rider')).toMatchObject({ state: 'running', rewound_at: null });
    if (policy !== 'movers')
      for (const screen of SCREENS) {
        await page.goto(`${served.origin}/console#/trips/${screen}`);
        await page.waitForSelector('main h1');
        await page.waitForTimeout(500);
        if (!actions) expect(await page.locator('button.action').count()).toBe(0);
      }
    await page.waitForSelector(`text=${policy}, ${actions ? 'actions on' : 'reads only'}`);
  });
});

it('who is refused an action is told so, by whom, and is not offered it again', async () => {
  await serve('readers', true);
  const { page } = await open();
  await page.goto(served.address);
  await page.waitForSelector('main h1');
  await page.goto(`${served.origin}/console#/trips/triggers/bill_rider`);
  await page.click('button.action:has-text("Pause")');
  await page.click('dialog button.danger');
  await page.waitForSelector('dialog >> text=Refused by IAM');
  await page.click('dialog button:has-text("Close")');
  await page.waitForSelector('button.action:has-text("(refused)")');
  expect(await page.locator('button.action').first().isDisabled()).toBe(true);
  expect((await trips().trigger('bill_rider')).state).toBe('running');
  served.close();
});

it('operators with --actions pause a trigger; the address opened one browser, and no other', async () => {
  await serve('operators', true);
  const { page } = await open();
  await page.goto(served.address);
  await page.waitForSelector('main h1');
  await page.goto(`${served.origin}/console#/trips/triggers/bill_rider`);
  await page.click('button.action:has-text("Pause")');
  await page.click('dialog button.danger');
  await page.waitForSelector('dialog .done');
  expect((await trips().trigger('bill_rider')).state).toBe('paused');
  const other = await open();
  await other.page.goto(served.address);
  await other.page.waitForSelector('text=it is good once');
  served.close();
});

it('programs, who have the policy of clients, are not shown it', async () => {
  await serve('clients-trips', true);
  const { page, troubles } = await open();
  const answer = await page.goto(served.address);
  expect(answer?.status()).toBe(403);
  troubles.length = 0;
  served.close();
});
