import { beforeAll, expect, it } from 'vitest';
import { axeFindings, browserTests, tooWide } from './browser.ts';
import { consoleStack } from './console-stack.ts';

const { url, lab } = consoleStack({ groups: 1, readers: 0 });
const open = browserTests(url);

const [ERASED, OLD, PERSON] = [1, 2, 3].map((digit) => `6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f${digit}`) as [
  string,
  string,
  string,
];
const PATIENCE = { patienceMs: 90_000 };

beforeAll(async () => {
  await lab().put({ row_key: ERASED, column_name: 'NOTES', ref_key: 1, body: {} });
  // In one batch: columns with few versions to erase wait for the daily pass.
  const versions = Array.from({ length: 30 }, (_, at) => ({ ref_key: at + 1, body: { version: at + 1 } }));
  await lab().batchPut(versions.map((one) => ({ row_key: OLD, column_name: 'STATUS', ...one })));
  await lab().put({ row_key: PERSON, column_name: 'PRIVATE', ref_key: 1, body: { person: PERSON, name: 'Ada' } });
  await lab().eraseCells({ row_key: ERASED, reason: 'request 17' });
  await lab().forgetSubject({ subject: PERSON, reason: 'request 18' });
});

it('shows the retention of cells, and forgotten subjects', async () => {
  const polling = await open({ viewport: { width: 1280, height: 800 } });
  const { page, at } = polling;
  await at('/lab/erasures');
  await page.waitForSelector('text=request 17');
  const rule = page.locator('[aria-label="How long cells are kept"] tbody tr');
  expect(await rule.innerText()).toMatch(/STATUS\s+2 versions/u);
  const subject = page.locator('[aria-label^="Forgotten subjects"] tbody tr');
  expect(await subject.innerText()).toMatch(/gone.*request 18/su);
  const shown = await page.locator('main').innerText();
  expect(shown).not.toContain(PERSON);
  for (const line of ['erasures', 'retention', 'forgotten']) expect(shown).toContain(`schemaless ${line} -d lab`);
  expect(await axeFindings(polling)).toEqual([]);
  expect(await tooWide(polling)).toEqual([]);
});

it('shows what was erased as it was out of its retention', async () => {
  const { page, at } = await open();
  const operations = lab();
  const erased = async (): Promise<number> =>
    ((await operations.getRetention()).columns[0]?.days ?? []).reduce((sum, { cells }) => sum + cells, 0);
  await expect.poll(erased, { timeout: PATIENCE.patienceMs }).toBe(28);
  await at('/lab/erasures');
  const rule = page.locator('[aria-label="How long cells are kept"] tbody tr');
  await rule.waitFor();
  expect(await rule.innerText()).toMatch(/STATUS\s+2 versions\s+28\s/u);
});
