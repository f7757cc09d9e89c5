import { inject } from 'vitest';
import { startDataApi } from '../../../infra/local/data-api/data-api.ts';
import { dataApiClient } from '../../../shared/sql/data-api-client.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import { serverLogin, TARGET } from '../../infra/local/data-api/with-data-api.ts';
import { bundledMysqlClient } from '../../support/bundled-mysql-client.ts';
import { sqlClientConformance } from '../../support/sql-client-conformance.ts';
import { dataApiSdk } from '../../support/data-api-sdk.ts';
import { PATIENT } from '../../support/store-access.ts';

const NOWHERE = { host: '127.0.0.1', port: 1 };

/** As the sources have it, and as the functions' bundles have it. */
const OPENED = { mysql: async () => mysqlClient, 'mysql, as bundled': bundledMysqlClient };

for (const [name, open] of Object.entries(OPENED))
  sqlClientConformance(name, async () => {
    const clientOf = await open();
    const [group] = inject('servers').groups;
    if (!group) throw new Error('wanted a group');
    const credentials = async () => ({ username: group.user, password: group.password });
    const clients = [
      clientOf(group, credentials, PATIENT),
      clientOf(group, credentials, { ...PATIENT, queryTimeoutMs: 2000 }),
      clientOf({ ...group, writer: NOWHERE }, credentials),
    ] as const;
    const [client, hasty, nowhere] = clients;
    return { client, hasty, nowhere, close: async () => void (await Promise.all(clients.map((one) => one.close()))) };
  });

sqlClientConformance('the RDS Data API', async () => {
  const api = await startDataApi({ login: serverLogin });
  const [sdk, lost] = [dataApiSdk(api.url), dataApiSdk(`http://${NOWHERE.host}:${NOWHERE.port}`)];
  return {
    client: dataApiClient(sdk, TARGET, { callTimeoutMs: 60_000 }),
    hasty: dataApiClient(sdk, TARGET, { callTimeoutMs: 2000 }),
    nowhere: dataApiClient(lost, TARGET),
    async close() {
      sdk.destroy();
      lost.destroy();
      await api.stop();
    },
  };
});
