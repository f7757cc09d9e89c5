import { AuroraMysqlEngineVersion, DatabaseClusterEngine, ParameterGroup } from 'aws-cdk-lib/aws-rds';
import { Construct } from 'constructs';

/** The long-term support line to April 2028; MySQL 8.0.42. */
export const MYSQL_ENGINE = DatabaseClusterEngine.auroraMysql({ version: AuroraMysqlEngineVersion.VER_3_10_4 });

/** Server settings that the store relies on; durability is Aurora's default. Readers need no binary log. */
export class MysqlParameters extends Construct {
  readonly ofCluster: ParameterGroup;
  readonly ofInstance: ParameterGroup;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.ofCluster = new ParameterGroup(this, 'cluster', {
      engine: MYSQL_ENGINE,
      description: 'Schemaless: settings of the cluster',
      parameters: {
        time_zone: 'UTC',
        require_secure_transport: 'ON',
      },
    });
    this.ofInstance = new ParameterGroup(this, 'instance', {
      engine: MYSQL_ENGINE,
      description: 'Schemaless: settings of each node',
      parameters: {
        // An append waits for its shard's lock row; the default of 50 s is longer than any caller waits.
        innodb_lock_wait_timeout: '3',
        max_allowed_packet: String(64 * 1024 * 1024),
      },
    });
  }
}
