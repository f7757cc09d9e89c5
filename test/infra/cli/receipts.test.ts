import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ForgottenSubject } from '../../../shared/contract/subject-operations.ts';
import { FORGOTTEN } from '../../functions/support/fake-subjects.ts';
import { listen } from '../../support/listen.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { linesOf, runCommand } from './run-command.ts';

/** A process for each command, on a machine that has other things to do. */
vi.setConfig({ testTimeout: 120_000 });

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
