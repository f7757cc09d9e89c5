import { AuroraMysqlEngineVersion, DatabaseClusterEngine, ParameterGroup } from 'aws-cdk-lib/aws-rds';
import { Construct } from 'constructs';

/** 3.10 is the long-term support line, to April 2028; it speaks MySQL 8.0.42. */
export const MYSQL_ENGINE = DatabaseClusterEngine.auroraMysql({ version: AuroraMysqlEngineVersion.VER_3_10_4 });

/**
 * The server settings that the store relies on; sessions set none but those for transactions, which wait for locks more
 * briefly. What is durable about a commit is Aurora's default
 * (`innodb_flush_log_at_trx_commit` 1) and stays untouched; there is no binary log, since readers share the storage.
 */
export class MysqlParameters extends Construct {
  readonly ofCluster: ParameterGroup;
  readonly ofInstance: ParameterGroup;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.ofCluster = new ParameterGroup(this, 'cluster', {
      engine: MYSQL_ENGINE,
      description: 'Schemaless: settings of the cluster',
      parameters: {
        // Times are stored and compared as UTC.
        time_zone: 'UTC',
        require_secure_transport: 'ON',
      },
    });
    this.ofInstance = new ParameterGroup(this, 'instance', {
      engine: MYSQL_ENGINE,
      description: 'Schemaless: settings of each node',
      parameters: {
        // An append waits for its shard's lock row. The default of 50 s is longer than any caller waits.
        innodb_lock_wait_timeout: '3',
        // A batch of cells is one statement.
        max_allowed_packet: String(64 * 1024 * 1024),
      },
    });
  }
}
