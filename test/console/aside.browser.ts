import { randomUUID } from 'node:crypto';
import { GetQueueAttributesCommand, GetQueueUrlCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createConnection } from 'mysql2/promise';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { awsLogin } from '../../infra/local/login/aws-login.ts';
import type { Json } from '../../shared/cell.ts';
import { insertBuffered } from '../../shared/sql/statements/insert-buffered.ts';
import { asBound, copyOf } from '../support/copy-of.ts';
import { nodeOf } from '../support/nodes.ts';
import { rowIn } from '../support/row-in.ts';
import { until } from '../support/until.ts';
import { browserTests } from './browser.ts';
import { consoleStack } from './console-stack.ts';

const { stack, url, lab, trips } = consoleStack();
const open = browserTests(url);
const PATIENCE = { patienceMs: 180_000 };
const [HOME, HOLDER] = ['group-1', 'group-2'] as const;

const cellOf = (row_key: string) => ({ row_key, column_name: 'BASE', ref_key: 1 });
const writer = (): string => nodeOf(stack().groups, HOME).node;

async function doIt(page: Page, word: string): Promise<void> {
  expect(await page.locator('dialog button.danger').isDisabled()).toBe(word !== '');
  if (word !== '') await page.fill('dialog input', word);
  await page.click('dialog button.danger');
  await page.waitForSelector('dialog .done');
  await page.click('dialog button:has-text("Close")');
}

const sumOf = async (what: 'rows' | 'conflicts' | 'in_doubt'): Promise<number> =>
  (await trips().getBuffer()).groups.reduce((sum, group) => sum + ('error' in group ? 1 : group[what]), 0);

describe('writes that are kept aside', () => {
  it('a conflict is discarded, once the word was typed', async () => {
    const cell = cellOf(rowIn(await trips().heads(), HOME).row);
    const node = writer();
    stack().groups.pause(node);
    try {
      for (const name of ['one', 'other'])
        await until(
          'it is buffered',
          async () => (await trips().put({ ...cell, body: { name } })).outcome === 'buffered',
          PATIENCE,
        );
    } finally {
      stack().groups.resume(node);
    }
    // Each may have been buffered twice.
    await until(
      'one is kept as a conflict',
      async () => (await sumOf('rows')) === 0 && (await sumOf('conflicts')) > 0,
      PATIENCE,
    );
    const { page, at } = await open();
    await at('/trips/health');
    await page.click('main button.action:has-text("Discard")');
    expect(await page.locator('dialog .foreseen').innerText()).toContain('The cell that is stored there stays.');
    expect(await page.locator('dialog code.line').innerText()).toMatch(
      /^schemaless buffer conflicts discard group-\d\/\d+ -d trips$/u,
    );
    const before = await sumOf('conflicts');
    await doIt(page, 'discard');
    expect(await sumOf('conflicts')).toBe(before - 1);
    for (let left = before - 1; left > 0; left--) {
      await page.locator(`h3:has-text("Conflicts: ${left}")`).waitFor();
      await page.click('main button.action:has-text("Discard")');
      await doIt(page, 'discard');
    }
    await page.waitForSelector('text=None: no conflicts, nothing in doubt.');
    expect(await sumOf('conflicts')).toBe(0);
  });

  it('an operator keeps one of two bodies that may both have been acknowledged', async () => {
    const { row, shard } = rowIn(await trips().heads(), HOME);
    const cell = cellOf(row);
    stack().groups.pause(writer());
    await insertCopies(['one', 'other'].map((name) => copyOf({ ...cell, body: { name } }, shard)));
    await stack().groups.promote(HOME);
    await until('both are reported', async () => (await sumOf('in_doubt')) === 2, PATIENCE);
    const { page, at } = await open();
    await at('/trips/health');
    await page.waitForSelector('[aria-label="In doubt"] tbody tr');
    await page.keyboard.press('b');
    const other = page.locator('[aria-label="In doubt"] tbody tr', { hasText: 'other' });
    await other.locator('button.action').click();
    expect(await page.locator('dialog .foreseen').innerText()).toContain('the others at this address become conflicts');
    await doIt(page, 'keep');
    const kept = async (): Promise<Json | undefined> => (await trips().get(cell)).cell?.body;
    await until('it is stored', async () => JSON.stringify(await kept()) === '{"name":"other"}', PATIENCE);
  });
});

async function insertCopies(copies: Parameters<typeof insertBuffered>[1]): Promise<void> {
  const found = stack().endpoints.groups.find(({ name }) => name === HOLDER);
  if (!found) throw new Error(`there is no ${HOLDER}`);
  const { host, port, user, password } = found.writer;
  const { sql, parameters } = insertBuffered('trips', copies);
  const connection = await createConnection({ host, port, user, password });
  await connection.query(sql, asBound(parameters));
  await connection.end();
}

/** Puts a message into the dead-letter queue, as SQS does with one that was received too often. */
async function giveUp(refKey: number): Promise<void> {
  const address = { row_key: randomUUID(), column_name: 'NOTES', ref_key: refKey };
  await lab().put({ ...address, body: {} });
  const { cell } = await lab().get(address);
  const queue = stack()
    .queues()
    .find(({ name, calls }) => name.includes('notify') && calls !== undefined);
  const client = new SQSClient({ endpoint: stack().endpoints.sqs, ...awsLogin() });
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: queue?.url, AttributeNames: ['RedrivePolicy'] }),
  );
  const { deadLetterTargetArn } = JSON.parse(Attributes['RedrivePolicy'] ?? '{}') as { deadLetterTargetArn: string };
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: deadLetterTargetArn.split(':').at(-1) }));
  const { shard, added_id, created_at } = cell ?? {};
  const message = {
    datastore: 'lab',
    trigger: 'notify_driver',
    shard,
    added_id,
    ...address,
    created_at,
    replay: false,
    generation: 0,
  };
  await client.send(
    new SendMessageCommand({
      QueueUrl,
      MessageBody: JSON.stringify(message),
      MessageGroupId: String(shard),
      MessageDeduplicationId: randomUUID(),
    }),
  );
}

describe('what SQS gave up on', () => {
  const dead = async (): Promise<number> => Number((await lab().getTrigger({ trigger: 'notify_driver' })).dead);

  it('is looked at and sent again', async () => {
    await giveUp(1);
    await until('it is counted', async () => (await dead()) === 1, PATIENCE);
    const { page, at } = await open();
    await at('/lab/triggers/notify_driver/parked');
    await page.click('text=Look at them');
    await page.waitForSelector('[aria-label="Messages that SQS gave up on"] tbody a');
    // A receive hides them from others for a moment.
    await page.waitForTimeout(35_000);
    await page.click('main button.action:has-text("Send them again")');
    expect(await page.locator('dialog code.line').innerText()).toBe(
      'schemaless parked retry notify_driver --dead -d lab',
    );
    await doIt(page, '');
    await until('it is gone', async () => (await dead()) === 0, PATIENCE);
  });

  it('is deleted, once the word was typed', async () => {
    await giveUp(2);
    await until('it is counted', async () => (await dead()) === 1, PATIENCE);
    const { page, at } = await open();
    await at('/lab/triggers/notify_driver/parked');
    await page.click('main button.action:has-text("Delete them")');
    expect(await page.locator('dialog .foreseen').innerText()).toContain('The cells themselves stay where they are.');
    await doIt(page, 'discard');
    await until('it is gone', async () => (await dead()) === 0, PATIENCE);
  });
});
