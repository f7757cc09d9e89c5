import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it, vi } from 'vitest';
import { applyFolder } from '../../../../infra/cli/commands/definitions.ts';
import { takeSnapshot } from '../../../../infra/local/snapshots/snapshot.ts';
import { awsLogin } from '../../../../infra/local/login/aws-login.ts';
import type { Json, NewCell } from '../../../../shared/cell.ts';
import { apiClient } from '../../../../shared/client/api-client.ts';
import { schemalessClient } from '../../../../shared/client/client.ts';
import { METRICS } from '../../../../shared/metrics.ts';
import { appliedQueueName } from '../../../../shared/migrate/applied-queues.ts';
import { errorOf } from '../../../support/datastore-conformance.ts';
import { localStack } from '../../../support/local-stack.ts';
import { linesOf, runCommand, type Ran } from '../../cli/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeFiles } from '../../support/write-files.ts';

/** A whole stack, and a process for each command, on a machine that has other things to do. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 200_000 } } });
const BUYER = '5d2c8a17-9e4b-4f36-a1d8-7c0e6b3f2a94';
const KEPT = 3;
const indexOn = (datastore: string, table: string, column: string, field: string): string =>
  `table: ${table}\ndatastore: ${datastore}\ncolumn_defs:\n  - column_key: ${column}\n    fields:\n      - ${field}\n`;
const folder = temporaryFolder();
const data = join(folder.path, 'data');
const deployed = writeFiles(join(folder.path, 'deployed'), {
  'base/datastore.yaml': 'datastore: base\nshards: 4\n',
  'kept/datastore.yaml': `datastore: kept\nshards: 4\nretention:\n  - { column: STATUS, keep_versions: ${KEPT} }\n`,
  'clinic/datastore.yaml':
    'datastore: clinic\nshards: 4\nsealed:\n  - { column: VISIT, subject: patient, fields: [name, contact.mail] }\n',
  'clinic/indexes/mail_index.yaml': indexOn('clinic', 'mail_index', 'VISIT', '{ field: contact.mail, type: string }'),
  'clinic/triggers/remind.yaml': 'trigger: remind\ndatastore: clinic\ncolumns: [VISIT]\n',
});
const SHOP = {
  'shop/datastore.yaml': 'datastore: shop\nshards: 4096\n',
  'shop/indexes/buyer_index.yaml': indexOn('shop', 'buyer_index', 'ORDER', '{ field: buyer, type: UUID }'),
  'shop/triggers/send.yaml': 'trigger: send\ndatastore: shop\ncolumns: [ORDER]\n',
};
const stack = localStack(folder, { data, datastores: deployed });

const of = (datastore: string) => ({ url: stack().url, datastore, retryBudget: false as const });
const definitions = () => apiClient({ url: stack().url, datastore: 'definitions' });

async function messagesOf(QueueUrl: string | undefined): Promise<string> {
  const client = new SQSClient({ endpoint: stack().endpoints.sqs, useQueueUrlAsEndpoint: false, ...awsLogin() });
  try {
    for (;;) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20, MaxNumberOfMessages: 10 }),
      );
      if (Messages.length > 0) return Messages.map(({ Body }) => Body).join('\n');
    }
  } finally {
    client.destroy();
  }
}

describe('a datastore that a running stack is given', () => {
  const shop = () => schemalessClient(of('shop'));
  const order = () => ({ row_key: randomUUID(), column_name: 'ORDER', ref_key: 1, body: { buyer: BUYER } });
  const where = { buyer: BUYER };

  it('is served with its index and its trigger', async () => {
    expect(await errorOf(() => shop().put(order()))).toMatchObject({ code: 'unknown_datastore' });
    const outcome = await applyFolder(definitions(), writeFiles(join(folder.path, 'defined'), SHOP));
    expect(outcome).toMatchObject({ done: true, dry_run: false, warnings: [] });
    expect(outcome.changes.map(({ name, change, shards }) => [name, change, shards])).toEqual([
      // As many as any datastore gets here.
      ['shop', 'create', 4],
      ['buyer_index', 'create', undefined],
      ['send', 'create', undefined],
    ]);
    const cell = order();
    expect(await shop().put(cell)).toMatchObject({ outcome: 'stored', added_id: 1 });
    expect((await shop().query({ index: 'buyer_index', where })).entries).toMatchObject([{ row_key: cell.row_key }]);
    const queue = `${stack().endpoints.sqs}/000000000000/${appliedQueueName('local', 'shop', 'send', '')}`;
    expect(JSON.parse(await messagesOf(queue))).toMatchObject({ datastore: 'shop', row_key: cell.row_key });
    expect(await apiClient(of('shop')).getTrigger({ trigger: 'send' })).toMatchObject({
      state: 'running',
      function: null,
    });
  });

  it('is refused where it is wrong, with file and line, or belongs to a deployment', async () => {
    const bad = { ...SHOP, 'shop/indexes/bad.yaml': 'table: bad\n' };
    expect(await errorOf(() => definitions().applyDefinitions({ files: bad }))).toMatchObject({
      code: 'invalid_definition',
      details: {
        more: { problems: expect.arrayContaining([expect.objectContaining({ file: 'shop/indexes/bad.yaml' })]) },
      },
    });
    const called = { trigger: 'call', datastore: 'shop', columns: '*', function: 'functions/call.ts' };
    const calling = { ...SHOP, 'shop/triggers/call.yaml': called };
    expect(await errorOf(() => definitions().applyDefinitions({ files: calling }))).toMatchObject({
      code: 'fixed_definition',
      message: expect.stringContaining('a function is bundled by a deployment'),
    });
  });

  it('is retired with its folder, and comes back with it, with as many shards', async () => {
    const define = (shards: number) =>
      writeFiles(deployed, { 'inn/datastore.yaml': `datastore: inn\nshards: ${shards}\n` });
    const inn = schemalessClient({ ...of('inn'), attempts: 1 });
    define(2);
    await stack().takeOver();
    const cell = order();
    expect((await inn.put(cell)).outcome).toBe('stored');
    rmSync(join(deployed, 'inn'), { recursive: true });
    await stack().takeOver();
    // Every instance knows within a minute.
    const asked = () =>
      inn.get(cell).then(
        () => 'found',
        ({ code }: { readonly code: string }) => code,
      );
    await expect.poll(asked).toBe('unknown_datastore');
    define(3);
    await expect(stack().takeOver()).rejects.toThrow(
      `${join(deployed, 'inn/datastore.yaml')}:2: shards: wanted 2, with which the datastore inn was created, got 3`,
    );
    define(2);
    await stack().takeOver();
    expect((await inn.get(cell)).cell?.body).toEqual(cell.body);
  });
});

describe('a datastore with retention rules', () => {
  it('hides at once what it does not keep, and has it erased by the functions', async () => {
    const kept = schemalessClient(of('kept'));
    const row_key = randomUUID();
    await kept.batchPut(
      Array.from({ length: 20 }, (_, ref_key) => ({ row_key, column_name: 'STATUS', ref_key, body: { ref_key } })),
    );
    const status = (ref_key: number) => kept.get({ row_key, column_name: 'STATUS', ref_key });
    const { cells } = await kept.versions({ row_key, column_name: 'STATUS' });
    expect(cells.map(({ ref_key }) => ref_key)).toEqual([19, 18, 17]);
    const hidden = { cell: { erased: true }, why: 'retention', rule: { keep_versions: KEPT } };
    expect(await status(0)).toMatchObject(hidden);

    await expect.poll(async () => (await status(16)).erasure).toBeDefined();
    const erasures = apiClient(of('kept'));
    const told = async () =>
      (await erasures.getRetention()).columns.flatMap(({ days }) => days.map((day) => day.cells));
    await expect.poll(told).toContain(20 - KEPT);
    expect((await erasures.eraseCells({ row_key, reason: 'request 4711' })).state).toBe('erased');
  });

  it('has its functions count answers while an index is built', async () => {
    const metrics = join(dirname(stack().functionLog), 'metrics.log');
    await expect
      .poll(() => existsSync(metrics) && readFileSync(metrics, 'utf8'))
      .toContain(`"${METRICS.answeredIndexBuilding}":0`);
  });
});

describe('a datastore with sealed fields', () => {
  const mark = (what: string): string => `${what}-${randomUUID()}`;
  const visit = (patient: string = randomUUID()) => {
    const body = { patient, name: mark('name'), contact: { mail: mark('mail') }, room: mark('room') };
    return { row_key: randomUUID(), column_name: 'VISIT', ref_key: 1, body } satisfies NewCell & { body: Json };
  };
  const clinic = () => schemalessClient(of('clinic'));
  const cli = (...parameters: string[]): Promise<Ran> => runCommand(parameters, { folder: folder.path });
  const run = (...parameters: string[]): Promise<Ran> => cli(...parameters, '-d', 'clinic', '--url', stack().url);
  const exportTo = async (to: string, ...flags: string[]): Promise<void> =>
    expect(await run('export', to, '--compression', 'none', ...flags)).toMatchObject({ code: 0 });

  /** The files that have a text: tables, redo and binary logs, logs of functions, queues. */
  const filesWith = (text: string, under = data): string[] =>
    readdirSync(under, { recursive: true, encoding: 'utf8' })
      .map((name) => join(under, name))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
      .filter((path) => readFileSync(path).includes(text));

  it('answers what was put, and has it on no disk, in no message and in no export', async () => {
    const one = visit();
    expect((await clinic().put(one)).outcome).toBe('stored');
    expect((await clinic().put(one)).outcome).toBe('stored_before');
    expect((await clinic().get(one)).cell?.body).toEqual(one.body);
    const kept = (await clinic().get(one, { sealed: true })).cell?.body;
    expect(kept).toMatchObject({ name: { $sealed: expect.any(String) }, room: one.body.room });
    const by = (operator: 'eq' | 'gte', value: string) => ({ 'contact.mail': { [operator]: value } });
    const found = async () =>
      (await clinic().query({ index: 'mail_index', where: by('eq', one.body.contact.mail), columns: ['VISIT'] }))
        .entries;
    await expect
      .poll(found)
      .toMatchObject([{ row_key: one.row_key, fields: { 'contact.mail': null }, cells: [{ body: one.body }] }]);
    await expect(clinic().query({ index: 'mail_index', where: by('gte', 'a') })).rejects.toMatchObject({
      code: 'invalid_field',
    });

    const output = await messagesOf(
      stack()
        .queues()
        .find(({ name }) => name.includes('clinicremindqueue'))?.url,
    );
    expect(output).toContain(one.row_key);
    const [exported, opened] = [join(folder.path, 'exported'), join(folder.path, 'opened')];
    await exportTo(exported);
    for (const secret of [one.body.name, one.body.contact.mail]) {
      expect(output).not.toContain(secret);
      expect([...filesWith(secret), ...filesWith(secret, exported)]).toEqual([]);
    }
    // The search would find them: short bodies are not compressed.
    const plain = { ...visit(), column_name: 'ROOM', body: { room: mark('room') } };
    await clinic().put(plain);
    expect(filesWith(plain.body.room).length).toBeGreaterThan(0);
    await exportTo(exported, '--since-last');
    expect(filesWith(plain.body.room, exported).length).toBe(1);

    // An export is imported again into its own datastore, and stays the same.
    expect((await run('import', exported)).code).toBe(0);
    expect((await run('compare', exported)).code).toBe(0);
    await exportTo(opened, '--opened');
    expect(filesWith(one.body.name, opened).length).toBe(1);
    expect((await run('compare', opened)).code).toBe(0);
  });

  it('forgets a subject by the command line, everywhere', async () => {
    const one = visit();
    await clinic().put(one);
    const ran = await run('forget', '--subject', one.body.patient, '--reason', 'request 4711', '--yes');
    const [record] = linesOf(ran);
    expect(record).toMatchObject({ reason: 'request 4711', requested_by: expect.any(String) });
    await expect
      .poll(async () => (await clinic().get(one)).cell)
      .toMatchObject({
        body: { name: null, contact: { mail: null }, room: one.body.room },
        forgotten: ['name', 'contact.mail'],
      });
    const refused = { outcome: 'subject_forgotten', field: 'body.patient' };
    await expect.poll(() => clinic().put(visit(one.body.patient))).toMatchObject(refused);
    const outcomes = await clinic().batchPut([visit(one.body.patient), visit()]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['subject_forgotten', 'stored']);
    // A snapshot of the stack has no key in it.
    expect(Object.keys((await takeSnapshot(stack())).tables).filter((table) => table.includes('keys'))).toEqual([]);
    const forgotten = linesOf(await run('forgotten'));
    expect(forgotten.map((each) => each['subject_name'])).toContain(record?.['subject_name']);
  });
});
