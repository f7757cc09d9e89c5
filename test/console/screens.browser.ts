import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { axeFindings, browserTests, tooWide } from './browser.ts';
import { consoleStack } from './console-stack.ts';

const { stack, url, lab, trips } = consoleStack();
const open = browserTests(url);

const [ROW, DRIVER, RIDER, STRANGE, FAILS] = [1, 2, 3, 4, 5].map(
  (digit) => `6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f${digit}`,
) as [string, string, string, string, string];
const TRIP = { driver_partner_uuid: DRIVER, rider_uuid: RIDER, trip_created_at: '2026-01-31T08:00:00Z' };
const SECRET = 'for-no-eyes-1f3a';
let shard: number;

beforeAll(async () => {
  for (const [ref_key, total] of [12.5, 14, 20].entries())
    ({ shard } = (await trips().put({
      row_key: ROW,
      column_name: 'BASE',
      ref_key,
      body: { ...TRIP, note: SECRET, fare: { total } },
    })) as { shard: number });
  await trips().put({ row_key: ROW, column_name: 'NOTES', ref_key: 1, body: { rating: 5 } });
  await lab().put({ row_key: FAILS, column_name: 'BAD', ref_key: 1, body: {} });
  await until('a cell is parked', async () => (await lab().getTrigger({ trigger: 'notify_driver' })).parked === 1, {
    patienceMs: 120_000,
  });
});

const textOf = (page: Page): Promise<string> => page.locator('main').innerText();
const SCREENS = [
  '/trips/overview',
  '/nope/health',
  '/trips/health',
  '/trips/triggers',
  '/trips/triggers/bill_rider',
  '/lab/triggers/notify_driver/parked',
  `/trips/row/${ROW}`,
  '/trips/logs?from=start',
  `/trips/queries/rider_index?rider_uuid=${RIDER}`,
  '/trips/indexes',
  '/trips/shards',
  '/trips/shards/3',
  '/trips/erasures',
  '/trips/position/0/1',
  '/trips/request/abc-1',
];

describe('each screen', () => {
  it('shows writes, lag, parked cells in amber, and the size of each datastore first', async () => {
    const { page } = await open();
    await page.goto(`${url()}/console`);
    await page.waitForSelector('text=All nodes of 3 groups answer');
    const card = page.locator('section[aria-label=lab]');
    await card.locator('text=/^\\d+\\.\\d\\/s$/u').waitFor();
    expect(await card.innerText()).toMatch(/Writes.*Size\s+1 cell, 16 shards.*Lag.*Parked\s+1 cell/su);
    await card.locator('a.badge.warn').click();
    await expect.poll(() => new URL(page.url()).hash).toBe('#/lab/triggers/notify_driver/parked');
  });

  it('shows the datastores for one that does not exist', async () => {
    const { page, at } = await open();
    await at('/nope/health');
    await page.waitForSelector('h1:has-text("No datastore nope")');
    await page.waitForSelector('section[aria-label=trips] dl');
    expect(await page.locator('main .trouble, main .badge.good').count()).toBe(0);
    await page.click('section[aria-label=trips] h2 a');
    await page.waitForSelector('text=bill_rider');
  });

  it('shows a trigger with parked cells in amber, and whole errors', async () => {
    const { page, at } = await open({ viewport: { width: 1280, height: 800 } });
    for (const address of ['/lab/triggers', '/lab/triggers/notify_driver', '/lab/triggers/notify_driver/parked']) {
      await at(address);
      await page.waitForSelector(`.badge.warn:has-text("${address.endsWith('parked') ? 'parked' : 'running'}")`);
      expect(await page.locator('main .badge.good').count()).toBe(0);
    }
    const error = page.locator(`[aria-label="Parked cells"] td:has-text("in the language of ${FAILS}, 1")`);
    await error.waitFor();
    const [shown, whole] = await error.evaluate((cell) => [cell.clientWidth, cell.scrollWidth]);
    expect(shown).toBe(whole);
    const time = page.locator('[aria-label="Parked cells"] time');
    expect(await time.innerText()).toMatch(/ ago$|^now$/u);
    expect(await time.getAttribute('title')).toMatch(/^\d{4}-.*Z$/u);
  });

  it('shows the scale of the map of shards, from the least to the most', async () => {
    const { page, at } = await open();
    await at('/trips/shards');
    const heads = (await trips().heads()).map((one) => (one.error ? 0 : one.head));
    const cells = (count: number): string => `${count} cell${count === 1 ? '' : 's'}`;
    await expect
      .poll(() => page.locator('.legend').innerText())
      .toMatch(new RegExp(`${cells(Math.min(...heads))}\\s+${cells(Math.max(...heads))}\\s`, 'u'));
  });

  it('shows groups, nodes, circuits and buffers', async () => {
    const { page, at } = await open();
    await at('/trips/health');
    await page.waitForSelector('text=Every node answers, and nothing waits.');
    expect(await page.locator('main tbody tr').count()).toBe(3);
    expect(await textOf(page)).toContain('schemaless ping -d trips');
  });

  it('shows a row in time, what changed, what triggers made of it, and where indexes have it', async () => {
    const { page, at } = await open();
    await at(`/trips/row/${ROW}?column=BASE`);
    await page.waitForSelector('text=3 cells');
    expect(await page.locator('svg[role=img]').count()).toBe(1);
    await page.waitForSelector('text=bill_rider');
    expect(await textOf(page)).not.toContain(SECRET);
    await page.keyboard.press('b');
    await page.waitForSelector('text=fare.total');
    await page.waitForSelector('text=What changed since 1');
    await page.waitForSelector('text=rider_index');
    const shown = await textOf(page);
    for (const part of [SECRET, '14', '20', 'rider_index', 'there', `${shard}:`]) expect(shown).toContain(part);
    expect(shown.indexOf(SECRET)).toBeLessThan(shown.indexOf('Stored'));
  });

  it('shows which cells a transaction wrote together', async () => {
    const { page, at } = await open();
    const row_key = randomUUID();
    const cells = ['ORDER', 'OUTBOX'].map((column_name) => ({ column_name, ref_key: 1, body: 1 }));
    await trips().transact({ row_key, cells });
    await at(`/trips/row/${row_key}`);
    const table = page.getByRole('region', { name: 'Cells, the last written first' });
    await expect.poll(() => table.getByText(/^[12] of 2$/u).allTextContents()).toEqual(['2 of 2', '1 of 2']);
    await page.getByText('cell 2 of 2').click();
    await page.waitForSelector('text=OUTBOX');
  });

  it('hides bodies, in responses as well, until the user asks, and the log names the user', async () => {
    const { page, at } = await open();
    const answers: string[] = [];
    page.on('response', async (response) => {
      if (response.url().includes('/v1/')) answers.push(await response.text().catch(() => ''));
    });
    await at(`/trips/row/${ROW}`);
    await page.waitForSelector('text=Its body is hidden.');
    await at(`/trips/logs?from=start`);
    await page.waitForSelector('text=hidden');
    await at(`/trips/queries/rider_index?rider_uuid=${RIDER}`);
    await page.waitForSelector('text=1 row');
    expect(answers.join('\n')).not.toContain(SECRET);
    const before = readFileSync(stack().functionLog, 'utf8').split('bodies shown').length;
    await at(`/trips/row/${ROW}`);
    await page.waitForSelector('text=Its body is hidden.');
    await page.keyboard.press('b');
    await expect
      .poll(() => readFileSync(stack().functionLog, 'utf8').split('bodies shown').length, { timeout: 10_000 })
      .toBeGreaterThan(before);
  });

  it('tails the logs as they grow, by column and row', async () => {
    const { page, at } = await open();
    await at('/trips/logs?column=LATE');
    await page.waitForSelector('text=Tailing 16 shards');
    await trips().put({ row_key: ROW, column_name: 'LATE', ref_key: Date.now(), body: 1 });
    await trips().put({ row_key: ROW, column_name: 'OTHER', ref_key: Date.now(), body: 1 });
    await page.waitForSelector('td:has-text("LATE")');
    await page.waitForSelector('text=1 fit the filter');
    expect(await page.locator('td:has-text("OTHER")').count()).toBe(0);
    await page.keyboard.press('p');
    await page.waitForSelector('text=Paused');
  });

  it('asks an index by a form, and says how it was found', async () => {
    const { page, at } = await open();
    await at('/trips/queries/rider_index');
    await page.fill('input[name=rider_uuid]', RIDER);
    await page.click('text=Ask');
    await page.waitForSelector('text=1 row');
    await page.waitForSelector('text=How it was found');
    expect(decodeURIComponent(page.url())).toContain(`rider_uuid=${RIDER}`);
    expect(await textOf(page)).toContain(`schemaless query rider_index rider_uuid=${RIDER} -d trips`);
  });

  it('groups parked cells by what they failed on', async () => {
    const { page, at } = await open();
    await at('/lab/triggers/notify_driver/parked');
    await page.waitForSelector('text=No text in the language of …');
    expect(await textOf(page)).toContain('1 cell');
  });

  it('is there behind a slash, too, and HEAD answers as GET does', async () => {
    const { page } = await open();
    await page.goto(`${url()}/console/`);
    await page.waitForSelector('text=All nodes of 3 groups answer');
    for (const path of ['/console', '/console/', '/console/main.js']) {
      const [head, get] = await Promise.all(
        ['HEAD', 'GET'].map((method) =>
          fetch(`${url()}${path}`, { method, headers: { 'accept-encoding': 'identity' } }),
        ),
      );
      expect(head?.status).toBe(200);
      for (const name of ['content-type', 'etag', 'content-security-policy', 'content-length'])
        expect([name, head?.headers.get(name)]).toEqual([name, get?.headers.get(name)]);
    }
  });

  it.each(SCREENS)('has an address: %s opens what it says', async (address) => {
    const { page, at } = await open();
    await at(address);
    await page.reload();
    await page.waitForSelector('main h1');
    await page.waitForSelector('nav[aria-label=Screens] a, main .cli');
    expect(new URL(page.url()).hash).toBe(`#${address}`);
  });
});

describe('search', () => {
  it.each([
    ['a row key', ROW.toUpperCase(), `#/trips/row/${ROW}`],
    ['the beginning of one', ROW.slice(0, 8), `#/trips/row/${ROW.slice(0, 8)}`],
    ['a place', '3:17', '#/trips/position/3/17'],
    ['a shard', '3', '#/trips/shards/3'],
    ['the id of a request', 'req-77', '#/trips/request/req-77'],
  ])('takes %s', async (_name, text, hash) => {
    const { page, at } = await open();
    await at('/trips/health');
    await page.keyboard.press('/');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
    await page.waitForFunction((wanted) => location.hash === wanted, hash).catch(() => undefined);
    expect(new URL(page.url()).hash).toBe(hash);
  });
});

describe('the keyboard', () => {
  it('goes to each screen, through lists, and into help and out', async () => {
    const { page, at } = await open();
    await at('/trips/health');
    for (const [key, screen] of [
      ['o', 'overview'],
      ['t', 'triggers'],
      ['l', 'logs'],
      ['i', 'indexes'],
      ['s', 'shards'],
      ['e', 'erasures'],
      ['h', 'health'],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await expect.poll(() => new URL(page.url()).hash).toBe(`#/trips/${screen}`);
    }
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('dialog[open]').count()).toBe(0);
    await at('/trips/triggers');
    await page.waitForSelector('main [data-item]');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).hash).toBe('#/trips/triggers/bill_rider');
  });
});

describe.each([
  ['light', { colorScheme: 'light', viewport: { width: 1280, height: 800 } }],
  ['dark', { colorScheme: 'dark', viewport: { width: 1280, height: 800 } }],
  ['a phone', { colorScheme: 'light', viewport: { width: 390, height: 800 } }],
] as const)('in %s', (_name, options) => {
  it.each(SCREENS)('%s: axe finds nothing, and nothing is cut off', async (address) => {
    const polling = await open(options);
    await polling.at(address);
    await polling.page.waitForTimeout(700);
    expect(await axeFindings(polling)).toEqual([]);
    const [wide, seen] = await polling.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth] as const);
    expect(wide).toBeLessThanOrEqual(seen);
    if (options.viewport.width >= 1280) expect(await tooWide(polling)).toEqual([]);
  });
});

describe('hostile cells', () => {
  const MARKUP = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
  const NAMES = ['<b onclick=alert(3)>', 'a/b?c#d', '../x', '%2e%2e', '\u202enoitpo', 'ünï 漢字 🚕', "';--", '.'];

  beforeAll(async () => {
    let deep: unknown = 'end';
    for (let level = 0; level < 90; level++) deep = { [`k${level}`]: deep };
    const bodies: Readonly<Record<string, unknown>> = {
      MARKUP: { [MARKUP]: MARKUP, city: MARKUP },
      LARGE: { text: 'x'.repeat(1_000_000) },
      DEEP: deep,
      EXACT: { big: 9_007_199_254_740_993n, __proto__x: 1 },
    };
    for (const [column_name, body] of Object.entries(bodies))
      await lab().put({ row_key: STRANGE, column_name, ref_key: 1, body: body as never });
    await lab().put({ row_key: STRANGE, column_name: 'BASE', ref_key: 1, body: { city: MARKUP, fare: 1 } });
    for (const column_name of NAMES)
      await lab().batchPut([{ row_key: STRANGE, column_name, ref_key: 1, body: { city: MARKUP } }]);
  });

  it.each(['MARKUP', 'LARGE', 'DEEP', 'EXACT', ...NAMES])('a cell of %s is shown as text', async (column) => {
    const { page, at, longTasks } = await open();
    await at(`/lab/row/${STRANGE}?column=${encodeURIComponent(column)}`);
    await page.waitForSelector('text=1 cell');
    await page.keyboard.press('b');
    await page.waitForSelector('pre.body');
    await page.waitForTimeout(300);
    const shown = await textOf(page);
    if (column === 'MARKUP') expect(shown).toContain(MARKUP.slice(0, 19));
    if (column === 'EXACT') expect(shown).toContain('9007199254740993');
    if (column === 'LARGE') expect(shown).toContain('characters are left');
    if (column.startsWith('\u202e')) expect(shown).toContain(String.raw`\u202enoitpo`);
    expect(await page.locator('main img, main script, main b').count()).toBe(0);
    expect(Math.max(0, ...(await longTasks()))).toBeLessThan(1000);
  });

  it('in logs, queries and the address, too', async () => {
    const { page, at } = await open();
    await at('/lab/logs?from=start');
    await page.waitForSelector(`text=Tailing`);
    await page.keyboard.press('b');
    await at(`/lab/queries/by_city?city=${encodeURIComponent(MARKUP)}`);
    await page.waitForSelector('text=1 row');
    await at(`/lab/request/${encodeURIComponent(MARKUP)}`);
    await at(`/${encodeURIComponent(MARKUP)}/health`);
    await page.waitForTimeout(500);
    expect(await page.locator('main img, main script').count()).toBe(0);
  });

  it('even what gets in as markup does nothing: the policy of the page holds', async () => {
    const { page, at, troubles } = await open();
    await at('/lab/health');
    const outcome = await page.evaluate(async () => {
      const kinds: string[] = [];
      document.addEventListener('securitypolicyviolation', (event) => kinds.push(event.effectiveDirective));
      try {
        document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="globalThis.bad = 1">');
      } catch {
        kinds.push('refused');
      }
      const script = document.createElement('script');
      try {
        script.setAttribute('src', 'https://example.com/x.js');
        document.body.append(script);
      } catch {
        kinds.push('no script');
      }
      const button = document.createElement('button');
      try {
        button.setAttribute('onclick', 'globalThis.bad = 1');
        button.click();
      } catch {
        kinds.push('no handler');
      }
      await fetch('https://example.com/').catch(() => kinds.push('kept in'));
      return { kinds, bad: (globalThis as { bad?: number }).bad };
    });
    expect(outcome.bad).toBeUndefined();
    expect(outcome.kinds).toEqual(expect.arrayContaining(['refused', 'no script', 'kept in']));
    expect(troubles.length).toBeGreaterThan(0);
    troubles.length = 0;
  });
});
