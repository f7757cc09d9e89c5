import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { browserTests, type Polling } from './browser.ts';
import { consoleStack } from './console-stack.ts';

const { url, trips, stopApi, startApi } = consoleStack({ groups: 2, readers: 0 });
const open = browserTests(url);
const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f1';

beforeAll(async () => {
  await trips().put({ row_key: ROW, column_name: 'BASE', ref_key: 1, body: {} });
});

it('health says that a group has no readers, and not that they are up', async () => {
  const { page, at } = await open();
  await at('/trips/health');
  await page.waitForSelector('text=Every node answers');
  const texts = await page.locator('[aria-label="Groups"] tbody tr').first().locator('td').allInnerTexts();
  expect(texts[3]).toBe('none');
});

interface Counted {
  now: number;
  most: number;
  paths: string[];
}

/** Counts the page's requests to the API as they are sent. */
async function counting(): Promise<Polling & { readonly counted: () => Promise<Counted> }> {
  const polling = await open();
  await polling.page.addInitScript(() => {
    const counted: Counted = { now: 0, most: 0, paths: [] };
    const send = globalThis.fetch;
    globalThis.fetch = async (...asked) => {
      counted.now += 1;
      counted.most = Math.max(counted.most, counted.now);
      counted.paths.push(String(asked[0]));
      try {
        return await send(...asked);
      } finally {
        counted.now -= 1;
      }
    };
    Object.assign(globalThis, { counted });
  });
  const counted = (): Promise<Counted> =>
    polling.page.evaluate(() => (globalThis as unknown as { counted: Counted }).counted);
  return { ...polling, counted };
}

it('one request at a time is under way, whatever a screen shows', async () => {
  const { page, at, counted } = await counting();
  for (const screen of [
    'health',
    'triggers/bill_rider',
    'triggers/bill_rider/parked',
    `row/${ROW}?column=BASE`,
    'logs?from=start',
    'indexes',
    'shards',
    'shards/3',
    'erasures',
  ]) {
    await at(`/trips/${screen}`);
    await page.waitForTimeout(1500);
  }
  const { most, paths } = await counted();
  expect(most).toBe(1);
  for (const part of ['/v1/health', '/buffer', '/triggers', '/log', '/moves', '/retention', '/erasures'])
    expect(paths.some((path) => path.includes(part))).toBe(true);
});

/** The connections over which the page was answered by the API, as the browser numbers them. */
async function connections(page: Page): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  const session = await page.context().newCDPSession(page);
  session.on('Network.responseReceived', ({ response }) => {
    if (new URL(response.url).pathname.startsWith('/v1/')) found.add(response.connectionId);
  });
  await session.send('Network.enable');
  return found;
}

it.each(['health', 'logs'])('%s is kept up over one connection', async (screen) => {
  const { page, at } = await open();
  await at(`/trips/${screen}`);
  await page.waitForTimeout(2000);
  const used = await connections(page);
  await page.waitForTimeout(12_000);
  expect(used.size).toBe(1);
});

it('a screen polls every two seconds and shows what changes', async () => {
  const { page, at, counted } = await counting();
  await at('/trips/logs');
  await page.waitForSelector('text=Tailing 16 shards');
  await page.waitForTimeout(5000);
  const before = (await counted()).paths.length;
  await page.waitForTimeout(15_000);
  const asked = (await counted()).paths.length - before;
  expect(asked).toBeGreaterThan(2);
  expect(asked).toBeLessThan(9);
  await trips().put({ row_key: ROW, column_name: 'LATE', ref_key: 1, body: {} });
  await page.waitForSelector('td:has-text("LATE")');
});

it('what an action has changed is asked for behind an older answer that is still on its way', async () => {
  const { page, at } = await open();
  const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const asked: number[] = [];
  // Its shards come by pages, in separate requests.
  await page.route(/\/triggers\/bill_rider(?!\S*limit=1000)(?:\?|$)/u, async (route) => {
    asked.push(performance.now());
    const response = await route.fetch();
    if (asked.length === 2) {
      held.resolve();
      await release.promise;
    }
    await route.fulfill({ response });
  });
  await at('/trips/triggers/bill_rider');
  await held.promise;
  await page.click('main button.action:has-text("Pause")');
  await page.fill('dialog input', 'cards are down');
  await page.click('dialog button.danger');
  await page.waitForSelector('dialog .done');
  await page.click('dialog button:has-text("Close")');
  const released = performance.now();
  release.resolve();
  try {
    await page.waitForSelector('text=cards are down');
  } finally {
    await trips().resumeTrigger({ trigger: 'bill_rider' });
  }
  expect(asked[2]).toBeGreaterThan(released);
  // The poll interval is longer.
  expect((asked[2] ?? 0) - released).toBeLessThan(950);
});

const lost = (page: Page): Promise<unknown> => page.waitForSelector('text=The API does not answer');

it('an API that was killed is told of, and all is asked for again once it is back', async () => {
  const { page, at, counted } = await counting();
  await at('/trips/logs');
  await page.waitForSelector('text=Tailing 16 shards');
  await page.waitForTimeout(2000);
  await stopApi();
  await lost(page);
  const before = (await counted()).paths.length;
  await page.waitForTimeout(8000);
  const tried = (await counted()).paths.length - before;
  expect(tried).toBeGreaterThan(0);
  expect(tried).toBeLessThan(8);
  // The page shows it for some seconds.
  const found = page.waitForSelector('text=It answers again', { timeout: 90_000 });
  await startApi();
  await trips().put({ row_key: ROW, column_name: 'BACK', ref_key: 1, body: {} });
  await found;
  // No cell was skipped.
  await page.waitForSelector('td:has-text("BACK")', { timeout: 30_000 });
  expect(await page.locator('.trouble').count()).toBe(0);
  expect((await counted()).most).toBe(1);
});
