import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { listen } from '../../support/listen.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { runCommand, type Ran } from './run-command.ts';

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

interface FakeApi {
  readonly folder: string;
  /** What came since the test began: method, path, body. */
  readonly requests: unknown[][];
  command(...parameters: string[]): readonly string[];
  run(...parameters: string[]): Promise<Ran>;
}

/** An API for the tests of a file, which notes what comes and answers as the file says. */
export function fakeApi(answer: (asked: Asked) => readonly [status: number, body: object]): FakeApi {
  const folder = folderOfTests().path;
  const requests: unknown[][] = [];
  let url: string;
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '' } = request;
    const sent = await text(request);
    const body: unknown = sent === '' ? undefined : JSON.parse(sent);
    requests.push([method, path, body]);
    const [status, answered] = answer({ method, path, body });
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
  });
  beforeAll(async () => {
    url = await listen(server);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    requests.length = 0;
  });
  const command = (...parameters: string[]): readonly string[] => [...parameters, '-d', 'trips', '--url', url];
  return { folder, requests, command, run: (...parameters) => runCommand(command(...parameters), { folder }) };
}
