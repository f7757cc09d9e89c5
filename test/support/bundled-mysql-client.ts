import type { mysqlClient } from '../../shared/sql/mysql-client.ts';
import { loadBundle } from './load-bundle.ts';

export async function bundledMysqlClient(): Promise<typeof mysqlClient> {
  const bundle = await loadBundle<{ readonly mysqlClient: typeof mysqlClient }>('shared/sql/mysql-client.ts');
  return bundle.mysqlClient;
}
