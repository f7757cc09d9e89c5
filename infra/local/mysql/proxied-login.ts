import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Returns why a user may not log in with a token; undefined if it may. */
export type JudgeLogin = (user: string, token: string) => string | undefined | Promise<string | undefined>;

/** Of Aurora; the servers here lack the plugin. */
const BY_TOKEN = "IDENTIFIED WITH AWSAuthenticationPlugin AS 'RDS'";
const SWITCH = Buffer.from('\u00FEmysql_clear_password\0\0', 'latin1');
const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0]);
/** Capabilities, packet size and character set of a login; then come its user and the length of its password's hash. */
const [FLAGS, USER] = [4, 36];

/**
 * Logs a client in as RDS Proxy does: asks for a token, has it judged, and enters the server with a password. Operators
 * of this machine log in with their own password. Returns false for a refused client.
 */
export async function logInByToken(
  client: Socket,
  server: Socket,
  { judge, password }: { readonly judge: JudgeLogin; readonly password: string },
): Promise<boolean> {
  const greeting = await next(server);
  client.write(greeting);
  const login = await next(client);
  const end = login.indexOf(0, USER);
  if (login[end + 1] !== 0) {
    server.write(login);
    return true;
  }
  const user = login.toString('utf8', USER, end);
  client.write(packet(2, SWITCH));
  const token = (await next(client)).toString('utf8', FLAGS).replace(/\0$/u, '');
  const why = await judge(user, token);
  if (why === undefined) await enter(server, { greeting, login, user, password });
  client.write(packet(4, why === undefined ? OK : Buffer.from(`\u00FF\u0015\u0004#28000${why}`, 'latin1')));
  return why === undefined;
}

/** Replaces the plugin for tokens in a statement of equal length. */
export function withPassword(chunk: Buffer, password: string): Buffer {
  const at = chunk.indexOf(BY_TOKEN);
  if (at >= 0) chunk.write(`IDENTIFIED BY '${password}'`.padEnd(BY_TOKEN.length), at);
  return chunk;
}

interface Entry {
  readonly greeting: Buffer;
  readonly login: Buffer;
  readonly user: string;
  readonly password: string;
}

/** The driver answers the greeting with the client's own settings. */
async function enter(server: Socket, { greeting, login, user, password }: Entry): Promise<void> {
  const { createConnection } = await import('mysql2');
  let isFirst = true;
  const stream = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _, done) {
      if (isFirst) login.copy(chunk, FLAGS, FLAGS, USER);
      isFirst = false;
      server.write(chunk, done);
    },
  });
  const answer = (chunk: Buffer): unknown => stream.push(chunk);
  server.on('data', answer).resume();
  stream.push(greeting);
  const connection = createConnection({ stream, user, password });
  try {
    await once(connection, 'connect');
  } finally {
    server.off('data', answer);
    server.pause();
    connection.on('error', () => undefined);
    connection.destroy();
  }
}

/** Returns the next packet: in a login, each side waits for the other. Throws an Error if the connection ends. */
async function next(socket: Socket): Promise<Buffer> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  socket.once('close', end);
  try {
    const data = once(socket, 'data', { signal: ended.signal });
    socket.resume();
    const [chunk] = (await data) as [Buffer];
    socket.pause();
    return chunk;
  } finally {
    socket.off('close', end);
  }
}

function packet(sequence: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([payload.length, 0, 0, sequence]), payload]);
}
