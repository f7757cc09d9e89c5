import type { EngineKind } from '../../setup/engine.mjs';
import { mariaDbReplication } from './mariadb-replication.ts';
import { mySqlReplication } from './mysql-replication.ts';
import type { Replication } from './replication.ts';

export function replicationOf(engine: EngineKind): Replication {
  return engine === 'mysql' ? mySqlReplication : mariaDbReplication;
}
