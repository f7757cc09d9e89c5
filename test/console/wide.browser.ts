import { expect, it } from 'vitest';
import { browserTests } from './browser.ts';
import { consoleStack } from './console-stack.ts';

const SHARDS = 4096;
const { url } = consoleStack({ groups: 1, readers: 0, shards: SHARDS });
const open = browserTests(url);

const WIDE = `table[aria-rowcount="${SHARDS + 1}"]`;

it.each([
  ['/trips/shards', WIDE],
  ['/trips/health', 'td:has-text("4,096")'],
  ['/trips/logs', 'text=Tailing 4,096 shards'],
  ['/trips/triggers/bill_rider', WIDE],
] as const)('%s of 4,096 shards is drawn without a stop', { retry: 2 }, async (address, whole) => {
  const { page, at, longTasks } = await open();
  await at(address);
  await page.waitForSelector(whole, { timeout: 60_000 });
  for (const by of address.endsWith('/shards') ? ['rate', 'cells'] : []) await page.click(`text=by ${by}`);
  await page.waitForTimeout(9000);
  const longest = Math.max(0, ...(await longTasks()));
  process.stdout.write(`${address} of 4,096 shards: the longest task took ${longest.toFixed(0)} ms\n`);
  expect(await page.locator('main tr').count()).toBeLessThan(250);
  expect(longest).toBeLessThan(100);
});
