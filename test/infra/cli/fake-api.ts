import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { listen } from '../../support/listen.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { runCommand, type Ran } from './run-command.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** A text is a page of HTML. */
export type Answer = readonly [status: number, body: object | string, headers?: Readonly<Record<string, string>>];

interface FakeApi {
  readonly folder: string;
  url(): string;
  /** The requests since the test began: method, path, body. */
  readonly requests: unknown[][];
  command(...parameters: string[]): readonly string[];
  run(...parameters: string[]): Promise<Ran>;
}

/** An API for the tests of a file, which notes what comes and answers as the file says. */
export function fakeApi(answer: (asked: Asked) => Answer): FakeApi {
  const folder = folderOfTests().path;
  const requests: unknown[][] = [];
  let url: string;
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const sent = await text(request);
    const body: unknown = sent === '' ? undefined : JSON.parse(sent);
    requests.push([method, path, body]);
    const [status, answered, more] = answer({ method, path, headers, body });
    const isPage = typeof answered === 'string';
    response.writeHead(status, { 'content-type': isPage ? 'text/html' : 'application/json', ...more });
    response.end(isPage ? answered : JSON.stringify(answered));
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
  const run = (...parameters: string[]): Promise<Ran> => runCommand(command(...parameters), { folder });
  return { folder, requests, url: () => url, command, run };
}
