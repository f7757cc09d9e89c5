import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mysqlClient, type MysqlSettings } from '../../../shared/sql/mysql-client.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import { bundledMysqlClient } from '../../support/bundled-mysql-client.ts';
import { CERTIFICATE, CERTIFICATE_OF_ANOTHER } from '../../support/certificates.ts';
import { startTokenServer, type TokenServer } from './support/token-server.ts';

let server: TokenServer;
let asked: string[];
let client: SqlClient | undefined;
let clientOf = mysqlClient;
beforeEach(async () => {
  server = await startTokenServer();
  asked = [];
});
afterEach(async () => {
  await client?.close();
  client = undefined;
  await server[Symbol.asyncDispose]();
});

const ANY = { sql: 'DO 1', parameters: [] };

function open(settings: MysqlSettings, port = server.port): SqlClient {
  const endpoint = { host: 'localhost', port };
  const address: GroupAddress = {
    name: 'group-1',
    writer: endpoint,
    reader: endpoint,
    nodes: [endpoint],
    clusterArn: '',
    secret: '',
    sharedStorage: true,
  };
  client = clientOf(
    address,
    async () => ({
      username: 'schemaless_write',
      token: async ({ host: at, port }) => `token-${asked.push(`${at}:${port}`)}`,
    }),
    { connectTimeoutMs: 30_000, ...settings },
  );
  return client;
}

describe.each(Object.entries({ source: async () => mysqlClient, bundle: bundledMysqlClient }))(
  'a login with a token, from the %s',
  (_name, load) => {
    beforeAll(async () => {
      clientOf = await load();
    });

    it('sends one of its own over each connection, signed for its endpoint, and encrypted', async () => {
      const opened = open({ tls: { ca: CERTIFICATE } });
      await Promise.all([opened.change(ANY), opened.change(ANY)]);
      await opened.change(ANY);
      expect(server.logins).toEqual(
        [1, 2].map((number) => ({ user: 'schemaless_write', token: `token-${number}`, encrypted: true })),
      );
      expect(asked).toEqual([`localhost:${server.port}`, `localhost:${server.port}`]);
    });

    it('is not sent to a server without a certificate of a trusted authority', async () => {
      await expect(open({ tls: {} }).change(ANY)).rejects.toThrow(/self-signed certificate/u);
      expect(server.logins).toEqual([]);
    });

    it('is not sent to a server with the certificate of another', async () => {
      await using other = await startTokenServer(CERTIFICATE_OF_ANOTHER);
      await expect(open({ tls: { ca: CERTIFICATE_OF_ANOTHER } }, other.port).change(ANY)).rejects.toThrow(
        /localhost.*other\.test/u,
      );
      expect(other.logins).toEqual([]);
    });

    it('is not sent in the clear', async () => {
      await expect(open({}).change(ANY)).rejects.toThrow('localhost: wanted TLS to send a token over, got none');
      expect([server.logins, asked]).toEqual([[], []]);
    });
  },
);
