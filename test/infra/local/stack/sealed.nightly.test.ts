import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it, vi } from 'vitest';
import { awsLogin } from '../../../../infra/local/stack/aws-login.ts';
import { takeSnapshot } from '../../../../infra/local/snapshots/take-snapshot.ts';
import type { Json, NewCell } from '../../../../shared/cell.ts';
import { schemalessClient } from '../../../../shared/client/client.ts';
import { erasuresClient } from '../../../../shared/client/erasures-client.ts';
import { subjectsClient } from '../../../../shared/client/subjects-client.ts';
import { verifyReceipt } from '../../../../shared/client/receipts.ts';
import { KNOWN_MS } from '../../../../shared/sealed/subject-keyring.ts';
import { localStack } from '../../../support/local-stack.ts';
import { linesOf, runCommand, type Ran } from '../../cli/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeFiles } from '../../support/write-files.ts';

/** A whole stack, and a process for each command, on a machine that has other things to do. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const folder = temporaryFolder();
const data = join(folder.path, 'data');
const stack = localStack(folder, {
  data,
  datastores: writeFiles(join(folder.path, 'datastores'), {
    'clinic/datastore.yaml': `datastore: clinic
shards: 4
sealed:
  - { column: VISIT, subject: patient, fields: [name, contact.mail] }
`,
    'clinic/indexes/mail_index.yaml': `table: mail_index
datastore: clinic
column_defs:
  - column_key: VISIT
    fields:
      - { field: contact.mail, type: string }
`,
    'clinic/triggers/remind.yaml': 'trigger: remind\ndatastore: clinic\ncolumns: [VISIT]\n',
  }),
});

const mark = (what: string): string => `${what}-${randomUUID()}`;

interface Visit extends NewCell {
  readonly body: { readonly name: string; readonly contact: { readonly mail: string }; readonly [key: string]: Json };
}

function visit(patient: string = randomUUID()): Visit {
  const body = { patient, name: mark('name'), contact: { mail: mark('mail') }, room: mark('room') };
  return { row_key: randomUUID(), column_name: 'VISIT', ref_key: 1, body };
}

const options = () => ({ url: stack().url, datastore: 'clinic', retryBudget: false as const });
const clinic = () => schemalessClient(options());
const run = (...parameters: string[]): Promise<Ran> =>
  runCommand([...parameters, '-d', 'clinic', '--url', stack().url], { folder: folder.path });

/** The files of the data folder that have a text: tables, redo and binary logs, logs of functions, snapshots. */
function filesWith(text: string, under = data): string[] {
  return readdirSync(under, { recursive: true, encoding: 'utf8' })
    .map((name) => join(under, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .filter((path) => readFileSync(path).includes(text));
}

async function messages(): Promise<string> {
  const { sqs } = stack().endpoints;
  const client = new SQSClient({ endpoint: sqs, useQueueUrlAsEndpoint: false, ...awsLogin() });
  const queue = stack()
    .queues()
    .find(({ name }) => name.includes('clinicremindqueue'));
  try {
    for (;;) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({ QueueUrl: queue?.url, WaitTimeSeconds: 20, MaxNumberOfMessages: 10 }),
      );
      if (Messages.length > 0) return JSON.stringify(Messages);
    }
  } finally {
    client.destroy();
  }
}

describe('a datastore with sealed fields, over HTTP', () => {
  it('answers what was put, and has it on no disk, in no message and in no export', async () => {
    const one = visit();
    expect((await clinic().put(one)).outcome).toBe('stored');
    expect((await clinic().put(one)).outcome).toBe('stored_before');
    const { cell } = await clinic().get(one);
    expect(cell?.body).toEqual(one.body);
    const kept = (await clinic().get(one, { sealed: true })).cell?.body;
    expect(kept).toMatchObject({ name: { $sealed: expect.any(String) }, room: one.body['room'] });
    const where = [{ field: 'contact.mail', operator: 'eq' as const, values: [one.body.contact.mail] }];
    await expect
      .poll(async () => (await clinic().query({ index: 'mail_index', where, columns: ['VISIT'] })).entries)
      .toMatchObject([{ row_key: one.row_key, fields: { 'contact.mail': null }, cells: [{ body: one.body }] }]);
    const range = [{ field: 'contact.mail', operator: 'gte' as const, values: ['a'] }];
    await expect(clinic().query({ index: 'mail_index', where: range })).rejects.toMatchObject({
      code: 'invalid_field',
    });

    const said = await messages();
    expect(said).toContain(one.row_key);
    const exported = join(folder.path, 'exported');
    expect((await run('export', exported, '--compression', 'none')).code).toBe(0);
    for (const secret of [one.body.name, one.body.contact.mail]) {
      expect(said).not.toContain(secret);
      expect(filesWith(secret)).toEqual([]);
      expect(filesWith(secret, exported)).toEqual([]);
    }
    // The search would find them: short bodies are not compressed.
    const plain = { ...visit(), column_name: 'ROOM', body: { room: mark('room') } };
    await clinic().put(plain);
    expect(filesWith(plain.body.room).length).toBeGreaterThan(0);
    expect((await run('export', exported, '--compression', 'none', '--since-last')).code).toBe(0);
    expect(filesWith(plain.body.room, exported).length).toBe(1);

    // An export goes in again where it came from, and is the same there.
    expect((await run('import', exported)).code).toBe(0);
    expect((await run('compare', exported)).code).toBe(0);
    const opened = join(folder.path, 'opened');
    expect((await run('export', opened, '--compression', 'none', '--opened')).code).toBe(0);
    expect(filesWith(one.body.name, opened).length).toBe(1);
    expect((await run('compare', opened)).code).toBe(0);
    rmSync(opened, { recursive: true });
  });

  it('forgets a subject by the command line, everywhere within the time that the record says', async () => {
    const one = visit();
    await clinic().put(one);
    const ran = await run('forget', '--subject', String(one.body['patient']), '--reason', 'request 4711', '--yes');
    expect(ran).toMatchObject({ code: 0 });
    const [record] = linesOf(ran);
    expect(record).toMatchObject({ reason: 'request 4711', requested_by: expect.any(String), signature: {} });
    await sleep(KNOWN_MS + 200);
    const { cell } = await clinic().get(one);
    expect(cell).toMatchObject({
      body: { name: null, contact: { mail: null }, room: one.body['room'] },
      forgotten: ['name', 'contact.mail'],
    });
    expect(await clinic().put(visit(String(one.body['patient'])))).toMatchObject({
      outcome: 'subject_forgotten',
      field: 'body.patient',
    });
    const other = visit();
    expect(
      (await clinic().batchPut([visit(String(one.body['patient'])), other])).map(({ outcome }) => outcome),
    ).toEqual(['subject_forgotten', 'stored']);
    expect(linesOf(await run('forgotten')).map((each) => each['subject_name'])).toContain(record?.['subject_name']);
    // A moment that the stack is set back to has no key in it.
    const { tables } = await takeSnapshot(stack());
    expect(Object.keys(tables).filter((table) => table.includes('keys'))).toEqual([]);
    expect(Object.keys(tables)).toHaveLength(2);
  });

  it('signs its records, which the command line verifies without it', async () => {
    const one = visit();
    await clinic().put(one);
    const erased = await erasuresClient(options()).erase({ row_key: one.row_key, reason: 'request 4712' });
    const key = await subjectsClient(options()).receiptKey();
    expect(verifyReceipt(erased, key)).toBe('right');
    const [records, keyFile] = [join(folder.path, 'records.ndjson'), join(folder.path, 'key.json')];
    const lines = [...linesOf(await run('erasures')), ...linesOf(await run('forgotten'))].map((line) =>
      JSON.stringify(line),
    );
    expect(lines.length).toBeGreaterThan(1);
    writeFileSync(keyFile, JSON.stringify(linesOf(await run('erasures', 'key'))[0]));
    const verify = (): Promise<Ran> =>
      runCommand(['erasures', 'verify', records, '--key', keyFile, '--url', 'http://127.0.0.1:1'], {
        folder: folder.path,
      });
    writeFileSync(records, lines.join('\n'));
    const right = await verify();
    expect(right).toMatchObject({ code: 0 });
    expect(linesOf(right)[0]).toMatchObject({ right: lines.length, wrong: 0, unsigned: 0 });
    writeFileSync(records, lines.join('\n').replace('request 4712', 'request 4713'));
    const wrong = await verify();
    expect(wrong.code).toBe(8);
    expect(linesOf(wrong)[0]).toMatchObject({
      right: lines.length - 1,
      wrong: 1,
      lines: [{ line: expect.any(Number) }],
    });
  });
});
