import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { CERTIFICATE, KEY } from '../../../support/certificates.ts';

export interface TokenServer extends AsyncDisposable {
  readonly port: number;
  readonly logins: { readonly user: string; readonly token: string; readonly encrypted: boolean }[];
}

const TLS_REQUEST_BYTES = 36;
const PROTOCOL_41 = 1 << 9;
const SSL = 1 << 11;
const SECURE_CONNECTION = 1 << 15;
const PLUGIN_AUTH = 1 << 19;

/**
 * Starts as much of a MySQL server as a login with a token needs, like RDS Proxy and Aurora. It sends a greeting, TLS,
 * the switch to `mysql_clear_password`, and an empty OK to each later request.
 */
export async function startTokenServer(certificate = CERTIFICATE): Promise<TokenServer> {
  const logins: TokenServer['logins'][number][] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => undefined);
    send(socket, 0, greeting());
    void serve(socket, certificate, logins);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    logins,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function serve(plain: Socket, cert: string, logins: TokenServer['logins'][number][]): Promise<void> {
  const [asked] = (await once(plain, 'data')) as [Buffer];
  const wantsTls = (asked.readUInt32LE(4) & SSL) !== 0;
  if (wantsTls) {
    // TLS may have begun in the same breath.
    plain.pause();
    if (asked.length > TLS_REQUEST_BYTES) plain.unshift(asked.subarray(TLS_REQUEST_BYTES));
  }
  const socket = wantsTls
    ? new TLSSocket(plain, { isServer: true, secureContext: createSecureContext({ key: KEY, cert }) })
    : plain;
  socket.on('error', () => undefined);
  const login = wantsTls ? ((await once(socket, 'data')) as [Buffer])[0] : asked;
  const user = login.subarray(36, login.indexOf(0, 36)).toString();
  send(
    socket,
    (login[3] ?? 0) + 1,
    Buffer.concat([Buffer.from([0xfe]), Buffer.from('mysql_clear_password\0'), Buffer.from('\0')]),
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  logins.push({ user, token: answer.subarray(4, -1).toString(), encrypted: wantsTls });
  send(socket, (answer[3] ?? 0) + 1, ok());
  socket.on('data', () => void send(socket, 1, ok()));
}

function greeting(): Buffer {
  const capabilities = PROTOCOL_41 | SSL | SECURE_CONNECTION | PLUGIN_AUTH;
  const parts = Buffer.alloc(18);
  parts.writeUInt16LE(capabilities & 0xff_ff, 0);
  parts.writeUInt8(45, 2);
  parts.writeUInt16LE(2, 3);
  parts.writeUInt16LE(capabilities >>> 16, 5);
  parts.writeUInt8(21, 7);
  return Buffer.concat([
    Buffer.from([10]),
    Buffer.from('8.0.42\0'),
    Buffer.from([1, 0, 0, 0]),
    Buffer.from('abcdefgh\0'),
    parts,
    Buffer.from('ijklmnopqrst\0'),
    Buffer.from('caching_sha2_password\0'),
  ]);
}

function ok(): Buffer {
  return Buffer.from([0, 0, 0, 2, 0, 0, 0]);
}

function send(socket: Socket, sequence: number, payload: Buffer): void {
  const header = Buffer.alloc(4);
  header.writeUIntLE(payload.length, 0, 3);
  header.writeUInt8(sequence, 3);
  socket.write(Buffer.concat([header, payload]));
}
