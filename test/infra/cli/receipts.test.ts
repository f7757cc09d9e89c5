import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receiptKey, signReceipt } from '../../../shared/client/receipts.ts';
import type { ForgottenSubject } from '../../../shared/contract/subject-operations.ts';
import { ERASED, ERASING } from '../../functions/support/fake-erasures.ts';
import { FORGOTTEN } from '../../functions/support/fake-subjects.ts';
import { listen } from '../../support/listen.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { linesOf, runCommand } from './run-command.ts';

const folder = folderOfTests();
let server: Server;
let url: string;
/** What a subject is answered that is to be forgotten. */
let record: ForgottenSubject;

beforeAll(async () => {
  server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(record));
  });
  url = await listen(server);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('forget', () => {
  it('warns where there was no key to delete, and prints the record all the same', async () => {
    const forget = ['forget', '--subject', 'Ann', '--reason', 'request 4711', '--yes', '-d', 'trips', '--url', url];
    record = FORGOTTEN;
    expect(await runCommand(forget, { folder: folder.path })).toMatchObject({ code: 0, stderr: '' });
    record = { ...FORGOTTEN, had_key: false };
    const ran = await runCommand(forget, { folder: folder.path });
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('no key of this subject was there') });
    expect(linesOf(ran)).toEqual([record]);
  });
});

describe('erasures verify', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = receiptKey(publicKey);
  const signed = <R extends object>(of: R): R => signReceipt(of, privateKey, key.key_id);
  const [erased, forgotten] = [signed(ERASED), signed(FORGOTTEN)];
  const open = { ...ERASING, signature: null };

  async function verify(text: string, ...flags: readonly string[]) {
    const [records, keyFile] = [join(folder.path, 'records'), join(folder.path, 'key.json')];
    writeFileSync(records, text);
    writeFileSync(keyFile, JSON.stringify(key));
    const ran = await runCommand(['erasures', 'verify', records, '--key', keyFile, ...flags], { folder: folder.path });
    return { code: ran.code, told: ran.code === 2 ? ran.stderr : linesOf(ran)[0] };
  }

  const lines = (...records: readonly object[]): string => records.map((one) => JSON.stringify(one)).join('\n');

  it('takes each record of a list as it is printed, one a line, or one alone', async () => {
    const all = [erased, open, forgotten];
    for (const text of [JSON.stringify(all, null, 2), lines(...all)])
      expect(await verify(text)).toMatchObject({ code: 0, told: { right: 2, unsigned: 1, wrong: 0 } });
    expect(await verify(JSON.stringify(erased, null, 2))).toMatchObject({ code: 0, told: { right: 1 } });
    const changed = [erased, open, { ...forgotten, reason: 'another' }];
    expect(await verify(JSON.stringify(changed))).toMatchObject({ code: 8, told: { wrong: 1, lines: [{ line: 3 }] } });
    expect(await verify(JSON.stringify([erased, [forgotten]]))).toMatchObject({
      code: 2,
      told: expect.stringContaining('record 2 of'),
    });
  });

  it.each([
    ['an erasure', { ...erased, signature: null }],
    ['a forgotten subject', { ...forgotten, signature: undefined }],
    ['what does not say that it goes on', { ...erased, state: undefined, signature: undefined }],
  ])('ends with 8 for %s that is done and has no signature, unless that is allowed', async (_what, unsigned) => {
    const text = lines(forgotten, open, unsigned);
    const why = 'it is done, and has no signature';
    expect(await verify(text)).toMatchObject({ code: 8, told: { right: 1, unsigned: 2, lines: [{ line: 3, why }] } });
    expect(await verify(text, '--allow-unsigned')).toMatchObject({
      code: 0,
      told: { right: 1, unsigned: 2, lines: [] },
    });
  });
});
