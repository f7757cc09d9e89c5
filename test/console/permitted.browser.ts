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

/** What a policy lets do, beside reads. */
const MAY: Readonly<Record<string, RegExp>> = { movers: /Move$/u, erasers: /^eraseCells$/u };

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
  ['erasers', true],
  ['operators', false],
])('with the policy %s, actions: %s', (policy, actions) => {
  beforeAll(() => serve(policy, actions));
  afterAll(() => served.close());

  it('nothing is written that is not permitted', async () => {
    const { page } = await open();
    await page.goto(served.address);
    await page.waitForSelector('main h1');
    const may = MAY[policy] ?? /^$/u;
    const refused = (await tryEachAction(page)).filter(([operation]) => !may.test(operation));
    expect(refused.length).toBeGreaterThan(7);
    expect(refused.filter(([, status]) => status !== 403)).toEqual([]);
    expect(await trips().trigger('bill_rider')).toMatchObject({ state: 'running', rewound_at: null });
    if (!(policy in MAY))
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

/** Begins to erase a row in the page of who has a policy, and does what its dialog asks for. */
async function erase(policy: string, rowKey: string): Promise<Page> {
  await serve(policy, true);
  const { page } = await open();
  await page.goto(served.address);
  await page.waitForSelector('main h1');
  await page.goto(`${served.origin}/console#/trips/row/${rowKey}`);
  await page.click('main button.action:has-text("Erase")');
  expect(await page.locator('dialog .foreseen').innerText()).toContain('are erased for good');
  expect(await page.locator('dialog code.line').innerText()).toBe(
    `schemaless erase ${rowKey} --reason WHY -d trips --profile ${policy}`,
  );
  await page.locator('dialog input').nth(0).fill('request 17');
  expect(await page.locator('dialog button.danger').isDisabled()).toBe(true);
  await page.locator('dialog input').nth(1).fill(rowKey);
  await page.click('dialog button.danger');
  return page;
}

describe('a row is erased', () => {
  const address = (digit: number) => ({
    row_key: `6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f${digit}`,
    column_name: 'NOTES',
    ref_key: 1,
  });

  it.each([
    ['erasers', 1],
    ['operators', 2],
  ] as const)('by %s, whether they may read it or not', async (policy, digit) => {
    await trips().put({ ...address(digit), body: { name: 'somebody' } });
    const page = await erase(policy, address(digit).row_key);
    await page.waitForSelector('dialog .done');
    expect((await trips().get(address(digit))).cell).toMatchObject({ body: null, erased: true });
    await page.goto(`${served.origin}/console#/trips/erasures`);
    await page.waitForSelector('text=request 17');
    served.close();
  });

  it.each([
    ['readers', 3],
    ['movers', 4],
  ] as const)('not by %s, who are told so and not offered it again', async (policy, digit) => {
    await trips().put({ ...address(digit), body: { name: 'somebody' } });
    const page = await erase(policy, address(digit).row_key);
    await page.waitForSelector('dialog >> text=Refused by IAM');
    await page.click('dialog button:has-text("Close")');
    await page.waitForSelector('main button.action:has-text("(refused)")');
    expect((await trips().get(address(digit))).cell?.body).toEqual({ name: 'somebody' });
    await page.goto(`${served.origin}/console#/trips/erasures`);
    await page.waitForSelector('main >> text=Refused by IAM');
    expect(await page.locator('text=the policy erasers shows it').count()).toBe(3);
    served.close();
  });
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
