import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { writeFileAtomically } from '../folder/state-file.ts';
import { closeAtOnce, listen } from '../server.ts';
import { messageOf } from '../message-of.ts';

export interface ControlAddress {
  readonly port: number;
  readonly token: string;
  readonly pid: number;
}

/** Commands of a running stack. Each returns what to show, and throws an `Error` to be shown. */
export type Commands = Readonly<Record<string, (argument: string) => unknown>>;

/** Listens on the loopback interface for callers that can read the file. */
export async function startControlServer(file: string, commands: Commands) {
  const token = randomBytes(24).toString('base64url');
  const expected = Buffer.from(`Bearer ${token}`);
  const server = createServer((request, response) => {
    const given = Buffer.from(request.headers.authorization ?? '');
    const answer = (status: number, body: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      return answer(401, { error: 'wrong token' });
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const command = commands[pathname.slice(1)];
    if (!command) return answer(404, { error: `${pathname}: wanted one of ${Object.keys(commands).join(', ')}` });
    Promise.resolve()
      .then(() => command(searchParams.get('argument') ?? ''))
      .then(
        (result) => answer(200, { result: result ?? null }),
        (error: unknown) => answer(400, { error: messageOf(error) }),
      );
  });
  const port = await listen(server, 0);
  writeFileAtomically(file, JSON.stringify({ port, token, pid: process.pid } satisfies ControlAddress));
  return {
    close: () => {
      rmSync(file, { force: true });
      return closeAtOnce(server);
    },
  };
}
