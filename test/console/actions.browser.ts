import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../infra/cli/run-command.ts';
import { temporaryFolder } from '../infra/support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { browserTests } from './browser.ts';
import { consoleStack } from './console-stack.ts';

const { url, lab, trips } = consoleStack();
const open = browserTests(url);
const PATIENCE = { patienceMs: 30_000 };
const rowOf = (number: number): string => `6e3a0f9c-4d2b-4a86-9a41-${String(number).padStart(12, '0')}`;
const FAILING = 12;

beforeAll(async () => {
  for (let number = 0; number < FAILING; number++)
    await lab().put({ row_key: rowOf(number), column_name: 'BAD', ref_key: number, body: {} });
  await until('all are parked', async () => (await parked()) === FAILING, PATIENCE);
});

const notifyDriver = () => lab().getTrigger({ trigger: 'notify_driver' });
const parked = async (): Promise<number> => (await notifyDriver()).parked;
const billRider = () => trips().getTrigger({ trigger: 'bill_rider' });

async function begin(page: Page, label: string): Promise<{ readonly says: string; readonly line: string }> {
  await page.click(`main button.action:has-text("${label}")`);
  const says = await page.locator('dialog .foreseen').innerText();
  return { says, line: await page.locator('dialog code.line').innerText() };
}

async function doIt(page: Page): Promise<string> {
  await page.click('dialog button.danger');
  await page.waitForSelector('dialog .done');
  const output = await page.locator('dialog .done').innerText();
  await page.click('dialog button:has-text("Close")');
  return output;
}

describe('triggers', () => {
  it('are paused for a reason, and resumed', async () => {
    const { page, at } = await open();
    await at('/trips/triggers/bill_rider');
    const { says } = await begin(page, 'Pause');
    expect(says).toContain('nothing is sent or consumed for bill_rider any more');
    await page.fill('dialog input', 'cards are down');
    expect(await page.locator('dialog code.line').innerText()).toBe(
      "schemaless triggers pause bill_rider --reason 'cards are down' -d trips",
    );
    await doIt(page);
    expect(await billRider()).toMatchObject({
      state: 'paused',
      reason: 'cards are down',
    });
    await page.waitForSelector('text=cards are down');
    const resume = await begin(page, 'Resume');
    expect(resume.line).toBe('schemaless triggers resume bill_rider -d trips');
    await doIt(page);
    expect(await billRider()).toMatchObject({ state: 'running' });
  });

  it('nothing is done by a dialog that is left', async () => {
    const { page, at } = await open();
    await at('/trips/triggers/bill_rider');
    await begin(page, 'Pause');
    await page.click('text=Leave it');
    await begin(page, 'Pause');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('dialog[open]').count()).toBe(0);
    expect(await billRider()).toMatchObject({ state: 'running' });
  });

  it('are rewound once it was seen how many come again, and the name was typed', async () => {
    const { page, at } = await open();
    await at('/lab/triggers/notify_driver');
    await page.fill('label:has-text("Rewind to") input', 'start');
    const { says, line } = await begin(page, 'See what it would do');
    expect(says).toContain(`Up to ${FAILING} cells that were sent`);
    expect(line).toBe('schemaless triggers rewind notify_driver start -d lab');
    expect(await page.locator('dialog button.danger').isDisabled()).toBe(true);
    expect((await notifyDriver()).rewound_at).toBeNull();
    await page.fill('dialog input', 'notify_driver');
    await doIt(page);
    expect((await notifyDriver()).rewound_at).not.toBeNull();
  });
});

describe('parked cells', () => {
  it('one, those of an error, and all are sent again; what fails again stays', async () => {
    const { page, at } = await open();
    await lab().put({ row_key: rowOf(0), column_name: 'FIXED', ref_key: 0, body: true });
    await at('/lab/triggers/notify_driver/parked');
    await page.waitForSelector('text=What they failed on');
    expect(await page.locator('[aria-label^="Errors"] tbody tr').count()).toBe(3);
    const repaired = page.locator(`tr:has-text("${rowOf(0)}") input[type=checkbox]`);
    await repaired.check();
    const { says, line } = await begin(page, 'Retry 1 chosen');
    expect(says).toContain('1 cell is sent to notify_driver again');
    expect(line).toMatch(/^schemaless parked retry notify_driver \d+:\d+ -d lab$/u);
    await doIt(page);
    await until('it is done', async () => (await parked()) === FAILING - 1, PATIENCE);
    const isShown = async (): Promise<boolean> => (await repaired.count()) > 0;
    await until('the page knows', async () => !(await isShown()), PATIENCE);
    const those = await begin(page, 'Retry these');
    expect(those.says).toMatch(/^[34] cells are sent to notify_driver again/u);
    await doIt(page);
    const all = await begin(page, 'Retry all');
    expect(all.line).toBe('schemaless parked retry notify_driver --all -d lab');
    await doIt(page);
    await until(
      'they failed again',
      async () =>
        (await lab().listParkedCells({ trigger: 'notify_driver', limit: 100 })).cells.every(({ round }) => round > 0),
      PATIENCE,
    );
    expect(await parked()).toBe(FAILING - 1);
  });

  it('the line that is shown does the same', async () => {
    const { page, at } = await open();
    await at('/lab/triggers/notify_driver/parked');
    await page.locator('main tbody input[type=checkbox]').first().check();
    const { line } = await begin(page, 'Discard 1 chosen');
    using folder = temporaryFolder();
    const before = await parked();
    const words = [...line.split(' ').slice(1), '--url', url()];
    const ran = await runCommand(words, { folder: folder.path });
    expect(ran).toMatchObject({ code: 0 });
    expect(await parked()).toBe(before - 1);
  });

  it('are forgotten after a typed confirmation', async () => {
    const { page, at } = await open();
    await at('/lab/triggers/notify_driver/parked');
    const { says } = await begin(page, 'Discard all');
    expect(says).toContain('are discarded permanently');
    expect(await page.locator('dialog button.danger').isDisabled()).toBe(true);
    await page.fill('dialog input', 'discard');
    await doIt(page);
    await page.waitForSelector('text=No cell is parked.');
    expect(await parked()).toBe(0);
  });
});

describe('shards', () => {
  it('are copied, switched, reversed, compared and completed, and cancelled', async () => {
    const { page, at } = await open();
    const operations = trips();
    const stepIs = (step: string, switches?: number): Promise<void> =>
      until(
        `the move is ${step}`,
        async () => {
          const move = await operations.getMove({ shard: 3 });
          return move.step === step && (switches === undefined || move.switches === switches) && move.wanted === null;
        },
        { patienceMs: 60_000 },
      );
    await at('/trips/shards/3');
    const choice = page.locator('label:has-text("Copy it to") select');
    await choice.waitFor();
    const home = (await choice.locator('option').allInnerTexts()).at(1) ?? '';
    await choice.selectOption(home);
    const { says, line } = await begin(page, 'See what it would do');
    expect(says).toContain(`is made on ${home} and follows it`);
    expect(line).toBe(`schemaless move create 3 --to ${home} -d trips`);
    await doIt(page);
    await stepIs('following');
    const step = async (label: string): Promise<string> => {
      await page.waitForSelector(`main button.action:has-text("${label}")`);
      const foreseen = await begin(page, label);
      const word = page.locator('dialog input');
      if ((await word.count()) > 0) await word.fill('3');
      await doIt(page);
      return foreseen.says;
    };
    expect(await step('Switch the shard')).toContain('takes no writes for a moment');
    await until('it is switched', async () => (await operations.getMove({ shard: 3 })).switches === 1, {
      patienceMs: 60_000,
    });
    await step('Verify the copy');
    await step('Reverse the switch');
    await until('it is back', async () => (await operations.getMove({ shard: 3 })).switches === 2, {
      patienceMs: 60_000,
    });
    expect(await step('Complete the move')).toContain('only another move returns the shard');
    await stepIs('completed');
    await at('/trips/shards/5');
    await choice.waitFor();
    await choice.selectOption((await choice.locator('option').allInnerTexts()).at(1) ?? '');
    await begin(page, 'See what it would do');
    await doIt(page);
    await until(
      'it is begun',
      async () => (await operations.listMoves()).moves.some(({ shard }) => shard === 5),
      PATIENCE,
    );
    await step('Cancel the move');
    await until('it is cancelled', async () => (await operations.getMove({ shard: 5 })).step === 'cancelled', {
      patienceMs: 60_000,
    });
  });
});

it('a row is erased for a reason, once its key was typed, and its receipt is shown', async () => {
  const { page, at } = await open();
  const erased = rowOf(900);
  await trips().put({ row_key: erased, column_name: 'NOTES', ref_key: 1, body: { name: 'somebody' } });
  await at(`/trips/row/${erased}`);
  const { says } = await begin(page, 'Erase');
  expect(says).toContain('are erased permanently');
  const [reason, key] = [page.locator('dialog input').nth(0), page.locator('dialog input').nth(1)];
  await key.fill(erased);
  expect(await page.locator('dialog button.danger').isDisabled()).toBe(true);
  await reason.fill('request 17');
  await doIt(page);
  const list = await trips().listErasures({ limit: 10 });
  expect(list.erasures).toMatchObject([{ row_key: erased, reason: 'request 17' }]);
  await at('/trips/erasures');
  await page.click('main [data-item]');
  await page.waitForSelector('text=Receipt');
  await page.waitForSelector('text=request 17');
  await at(`/trips/row/${erased}`);
  await page.waitForSelector('main .badge:has-text("erased")');
});
