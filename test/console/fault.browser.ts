import { expect, it } from 'vitest';
import { browserTests } from './browser.ts';
import { consoleStack } from './console-stack.ts';

const { stack, url } = consoleStack({ groups: 3 });
const open = browserTests(url);

it('an open page shows that a group was killed, and that it is back', async () => {
  const { page, at } = await open();
  await at('/trips/health');
  await page.waitForSelector('text=Every node answers');
  const [group] = stack().groups.groups;
  const names = (group?.nodes ?? []).map(({ node }) => node);
  for (const name of names) await stack().groups.kill(name);
  await page.waitForSelector('text=Nothing of group-1 answers');
  const shards = await open();
  await shards.at('/trips/shards');
  await shards.page.waitForSelector('text=do not answer');
  const logs = await open();
  await logs.at('/trips/logs');
  await logs.page.waitForSelector('text=Not read:');
  for (const name of names) await stack().groups.restart(name);
  await page.waitForSelector('text=Every node answers', { timeout: 60_000 });
  expect(await page.locator('main .badge.bad').count()).toBe(0);
  await logs.page.waitForSelector('text=Not read:', { state: 'detached', timeout: 60_000 });
});

it('a lost connection is shown, and restored', async () => {
  const { page, at } = await open();
  await at('/trips/health');
  await page.waitForSelector('text=Every node answers');
  await page.context().setOffline(true);
  await page.waitForSelector('text=The API does not answer');
  await page.context().setOffline(false);
  await page.waitForSelector('text=It answers again', { timeout: 30_000 });
  // The other parts of the page are requested after the one that shows this.
  await expect.poll(() => page.locator('main .trouble').count(), { timeout: 5000 }).toBe(0);
});
