/** `npm run console-pictures`: pictures of each screen, light, dark and on a phone, of a stack on which the trips demo ran. */
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { startLocalStack } from '../../infra/local/stack/local-stack.ts';
import { runDemo } from '../demo/run-demo.ts';
import { temporaryFolder } from '../infra/support/temporary-folder.ts';
import { writeFiles } from '../infra/support/write-files.ts';
import { operatorsClient, type OperatorsClient } from '../support/operators-client.ts';
import { until } from '../support/until.ts';
import { launchBrowser } from './browser.ts';

const PICTURES = join(PROJECT_ROOT, 'infra/docs/pictures/console');
const WINDOW = { width: 1100, height: 660 };
const MODES = {
  light: { colorScheme: 'light', viewport: WINDOW },
  dark: { colorScheme: 'dark', viewport: WINDOW },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true },
} as const;
type Mode = keyof typeof MODES;
const ALL = Object.keys(MODES) as readonly Mode[];
const MOST_BYTES = 1_500_000;
const PATIENCE = { patienceMs: 90_000 };
/** A trigger that fails some trips, so that there is something to see. */
const FAILING = `trigger: notify_driver
datastore: trips
columns: [BASE]
function: test/console/fails-until-fixed.ts
max_attempts: 2
stop_after_parked: 5000
retry_parked_every: never
`;

/** Retention of the trips, so that erasures show expired cells, and subjects whose keys are deleted. */
const KEPT = `
retention:
  - { column: STATUS, keep_versions: 10 }
  - { column: LOCATION, keep_for: 30d }
sealed:
  - { column: CONTACT, subject: rider_uuid, fields: [phone] }
`;

using folder = temporaryFolder();
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const datastores = join(folder.path, 'datastores');
cpSync(join(PROJECT_ROOT, 'infra/datastores/trips'), join(datastores, 'trips'), { recursive: true });
const stack = await startLocalStack({
  port: 0,
  data: join(folder.path, 'data'),
  groups: 3,
  readers: 1,
  shards: 256,
  restartAfterSeconds: 0,
  datastores: writeFiles(datastores, {
    'orders/datastore.yaml': 'datastore: orders\nshards: 64\n',
    'trips/triggers/notify_driver.yaml': FAILING,
    'trips/datastore.yaml': `${readFileSync(join(datastores, 'trips/datastore.yaml'), 'utf8')}${KEPT}`,
  }),
  log: say,
});
const browser = await launchBrowser();
try {
  const trips = operatorsClient({ url: stack.url, datastore: 'trips' });
  const shown = await fill(trips);
  rmSync(PICTURES, { recursive: true, force: true });
  mkdirSync(PICTURES, { recursive: true });
  let bytes = 0;
  for (const mode of ALL) for (const one of screens(shown)) bytes += await take(browser, mode, one);
  const nodes = stack.groups.groups[1]?.nodes ?? [];
  for (const { node } of nodes) await stack.groups.kill(node);
  for (const mode of ALL)
    bytes += await take(browser, mode, {
      name: 'group-down',
      address: '/trips/health',
      waitFor: 'Nothing of group-2 answers',
    });
  say(`${bytes} bytes in all`);
  if (bytes > MOST_BYTES) throw new Error(`pictures: wanted at most ${MOST_BYTES} bytes, got ${bytes}`);
} finally {
  await browser.close();
  await stack.stop();
}

interface Shown {
  readonly row: string;
  readonly rider: string;
  readonly moved: number;
  /** As in an address, of a cell of `row`. */
  readonly position: string;
}

async function fill(trips: OperatorsClient): Promise<Shown> {
  await runDemo({
    store: trips,
    trips: 400,
    seed: '1',
    readers: true,
    signal: new AbortController().signal,
    print: () => undefined,
  });
  const heads = await trips.heads();
  const logs = await trips.log(
    heads.map(({ shard }) => ({ shard, after: 0 })),
    { limit: 50 },
  );
  const bases = logs
    .flatMap((log) => ('cells' in log ? log.cells : []))
    .filter(({ column_name }) => column_name === 'BASE');
  const corrected = bases.find(({ ref_key }) => ref_key > 1) ?? bases[0];
  if (!corrected) throw new Error('the demo wrote no trips');
  const { rider_uuid: rider } = corrected.body as { readonly rider_uuid: string };
  const others = bases.filter(({ row_key }) => row_key !== corrected.row_key);
  for (const [at, reason] of ['request 4711 of a rider', 'request 4712 of a rider', 'a test account'].entries())
    await trips.eraseCells({ row_key: others[at]?.row_key ?? '', reason });
  await forget(
    trips,
    others.slice(3, 5).map(({ row_key }) => row_key),
  );
  const { shard: moved, group } = heads[7] ?? { shard: 7, group: '' };
  await trips.createMove({ shard: moved, to: group === 'group-1' ? 'group-2' : 'group-1' });
  await until('it follows', async () => (await trips.getMove({ shard: moved })).step === 'following', PATIENCE);
  const parked = async (): Promise<number> => (await trips.getTrigger({ trigger: 'notify_driver' })).parked;
  await until('some cells are parked', async () => (await parked()) > 40, PATIENCE);
  const position = `${corrected.shard}/${corrected.added_id}`;
  return { row: corrected.row_key, rider, moved, position };
}

async function forget(trips: OperatorsClient, riders: readonly string[]): Promise<void> {
  for (const [at, subject] of riders.entries()) {
    await trips.put({
      row_key: subject,
      column_name: 'CONTACT',
      ref_key: 1,
      body: { rider_uuid: subject, phone: '+44 20' },
    });
    await trips.forgetSubject({ subject, reason: `request ${4713 + at} of a rider` });
  }
}

interface Screen {
  readonly name: string;
  readonly address: string;
  readonly waitFor: string;
  readonly act?: (page: Page) => Promise<void>;
}

async function showBodies(page: Page): Promise<void> {
  await page.keyboard.press('b');
}

function screens({ row, rider, moved, position }: Shown): readonly Screen[] {
  return [
    { name: 'overview', address: '/trips/overview', waitFor: 'groups answer', act: writeMeanwhile },
    { name: 'unknown', address: '/nope/health', waitFor: 'No datastore nope' },
    { name: 'health', address: '/trips/health', waitFor: 'Every node answers' },
    { name: 'row', address: `/trips/row/${row}`, waitFor: 'cells', act: showRow },
    { name: 'logs', address: '/trips/logs?from=start', waitFor: 'Tailing', act: showBodies },
    {
      name: 'queries',
      address: `/trips/queries/rider_index?rider_uuid=${rider}`,
      waitFor: 'How it was found',
      act: showBodies,
    },
    { name: 'triggers', address: '/trips/triggers', waitFor: 'notify_driver' },
    {
      name: 'trigger',
      address: '/trips/triggers/notify_driver',
      waitFor: 'Parked cells',
      act: (page) => shows(page, '.chart svg'),
    },
    { name: 'parked', address: '/trips/triggers/notify_driver/parked', waitFor: 'What they failed on' },
    { name: 'retry', address: '/trips/triggers/notify_driver/parked', waitFor: 'What they failed on', act: beginRetry },
    {
      name: 'shards',
      address: '/trips/shards',
      waitFor: 'All shards',
      act: (page) => shows(page, 'td:has-text("0.0")'),
    },
    { name: 'shard', address: `/trips/shards/${moved}`, waitFor: 'Hole at its end' },
    { name: 'position', address: `/trips/position/${position}`, waitFor: 'Ref key' },
    { name: 'request', address: '/trips/request/49838fd2', waitFor: 'x-request-id' },
    { name: 'indexes', address: '/trips/indexes', waitFor: 'pickup_zone_index' },
    {
      name: 'erasures',
      address: '/trips/erasures',
      waitFor: 'request 4711',
      act: (page) => page.locator('main [data-item]').first().click(),
    },
    {
      name: 'kept',
      address: '/trips/erasures',
      waitFor: 'How long cells are kept',
      act: (page) => page.locator('h2:has-text("How long")').evaluate((title) => title.scrollIntoView()),
    },
  ];
}

/** Writes until the card shows a rate. */
async function writeMeanwhile(page: Page): Promise<void> {
  const card = page.locator('section[aria-label=trips] dl');
  const store = operatorsClient({ url: stack.url, datastore: 'trips' });
  for (let ref_key = 0; !/Writes\s+(?!0\.0)[\d.]+\/s/u.test(await card.innerText()) || ref_key < 40; ref_key++)
    await store.put({ row_key: randomUUID(), column_name: 'NOTES', ref_key, body: { rating: 5 } });
}

/** Waits for what comes with later polls. */
async function shows(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector, { timeout: PATIENCE.patienceMs });
}

async function showRow(page: Page): Promise<void> {
  await showBodies(page);
  await page.locator('tr:has-text("BASE") [data-item]').first().click();
  await page.waitForSelector('pre.body');
  await page.evaluate(() => scrollTo(0, 0));
}

async function beginRetry(page: Page): Promise<void> {
  await page.locator('main button.action:has-text("Retry these")').first().click();
  await page.waitForSelector('dialog .foreseen');
}

async function take(browser: Browser, mode: Mode, { name, address, waitFor, act }: Screen): Promise<number> {
  const context = await browser.newContext(MODES[mode]);
  const page = await context.newPage();
  await page.goto(`${stack.url}/console#${address}`);
  await page.locator(`main :text("${waitFor}")`).first().waitFor({ timeout: 60_000 });
  await page.waitForTimeout(1200);
  await act?.(page);
  await page.waitForTimeout(800);
  await until('all has loaded', async () => !/Asking …/u.test(await page.locator('main').innerText()), PATIENCE);
  const picture = await asWebp(browser, await page.screenshot());
  await context.close();
  const file = `${name}-${mode}.webp`;
  writeFileSync(join(PICTURES, file), picture);
  say(`${file} ${picture.byteLength} bytes`);
  return picture.byteLength;
}

/** A third of the size, and no difference to be seen. */
async function asWebp(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage();
  const text = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (one) => one.codePointAt(0) ?? 0);
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext('2d')?.drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', 0.4);
  }, png.toString('base64'));
  await page.close();
  return Buffer.from(text.split(',')[1] ?? '', 'base64');
}
