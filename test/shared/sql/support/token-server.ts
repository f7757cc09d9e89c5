import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

/** Made for the tests; it protects nothing. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQRhBRET4lTfru8rK
2TrdFZQtJUpyIbyP7rltxUVWwzShRANCAATvXiq6rr+tiHNlejo1+V/jiPUNg6eM
F4WBUDlJqR58BR6iTXa9w9w+JF/qtYrqExwOew0dHH2zWME8yIJqSp1e
-----END PRIVATE KEY-----`;
/** For `localhost`, by itself, until 2126. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmDCCAT2gAwIBAgIUYt/p4NBPoYUEL8ndp8NEFxevdS0wCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKcHJveHkudGVzdDAgFw0yNjExMjIwMjEzMDNaGA8yMTI2MTAy
OTAyMTMwM1owFTETMBEGA1UEAwwKcHJveHkudGVzdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABO9eKrquv62Ic2V6OjX5X+OI9Q2Dp4wXhYFQOUmpHnwFHqJNdr3D
3D4kX+q1iuoTHA57DR0cfbNYwTzIgmpKnV6jaTBnMB0GA1UdDgQWBBS/uITkKJUj
lhXOk6hOFnZ1HfwzvTAfBgNVHSMEGDAWgBS/uITkKJUjlhXOk6hOFnZ1HfwzvTAP
BgNVHRMBAf8EBTADAQH/MBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAKBggqhkjOPQQD
AgNJADBGAiEAnUogN7xcQcD6j+v4SOxVLyE98Qqjv17aQCDNRO8dZHACIQDgb+2H
7HdDMW7cSJWsBoIkUc7cdy+IsLrVmRImnNCPjw==
-----END CERTIFICATE-----`;

/** The same for `other.test`. */
export const CERTIFICATE_OF_ANOTHER = `-----BEGIN CERTIFICATE-----
MIIBlzCCAT6gAwIBAgIUfuSPog0d4pcmh5QAQSyMvVO41Q8wCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKb3RoZXIudGVzdDAgFw0yNjExMjIwMjI3NThaGA8yMTI2MTAy
OTAyMjc1OFowFTETMBEGA1UEAwwKb3RoZXIudGVzdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABO9eKrquv62Ic2V6OjX5X+OI9Q2Dp4wXhYFQOUmpHnwFHqJNdr3D
3D4kX+q1iuoTHA57DR0cfbNYwTzIgmpKnV6jajBoMB0GA1UdDgQWBBS/uITkKJUj
lhXOk6hOFnZ1HfwzvTAfBgNVHSMEGDAWgBS/uITkKJUjlhXOk6hOFnZ1HfwzvTAP
BgNVHRMBAf8EBTADAQH/MBUGA1UdEQQOMAyCCm90aGVyLnRlc3QwCgYIKoZIzj0E
AwIDRwAwRAIgIc+kRMBIBMoaUyRQ/Yu5v8uwA0n9r7+MvXqlHOjDtfYCIF5idIAa
pIov08bVNroRUsDomq332flgUzq4J6F/sBnp
-----END CERTIFICATE-----
`;

export interface TokenServer extends AsyncDisposable {
  readonly port: number;
  /** Who logged in with what, and whether over TLS. */
  readonly logins: { readonly user: string; readonly token: string; readonly encrypted: boolean }[];
}

const TLS_REQUEST_BYTES = 36;
const PROTOCOL_41 = 1 << 9;
const SSL = 1 << 11;
const SECURE_CONNECTION = 1 << 15;
const PLUGIN_AUTH = 1 << 19;

/**
 * As much of a MySQL server as a login with a token needs, as RDS Proxy and Aurora do it: a greeting, TLS, the switch to
 * `mysql_clear_password`, and an empty OK to whatever is asked afterwards.
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
  const socket = wantsTls ? new TLSSocket(plain, { isServer: true, secureContext: createSecureContext({ key: KEY, cert }) }) : plain;
  socket.on('error', () => undefined);
  const login = wantsTls ? ((await once(socket, 'data')) as [Buffer])[0] : asked;
  const user = login.subarray(36, login.indexOf(0, 36)).toString();
  send(socket, (login[3] ?? 0) + 1, Buffer.concat([Buffer.from([0xfe]), Buffer.from('mysql_clear_password\0'), Buffer.from('\0')]));
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
  return Buffer.concat([Buffer.from([10]), Buffer.from('8.0.42\0'), Buffer.from([1, 0, 0, 0]), Buffer.from('abcdefgh\0'), parts, Buffer.from('ijklmnopqrst\0'), Buffer.from('caching_sha2_password\0')]);
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
