import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { EnvironmentProps } from '../environments.ts';
import { MysqlParameters } from './mysql-parameters.ts';
import { Network } from './network.ts';
import { ShardGroup } from './shard-group.ts';
import { StateTables } from './state-tables.ts';

export interface StorageStackProps extends StackProps {
  readonly environment: EnvironmentProps;
}

/** What must outlive every deployment: the shard groups, the topology and the state. */
export class StorageStack extends Stack {
  readonly network: Network;
  readonly groups: readonly ShardGroup[];
  readonly tables: StateTables;

  constructor(scope: Construct, id: string, props: StorageStackProps) {
    super(scope, id, props);
    const { environment } = props;
    this.network = new Network(this, 'network', { functionsInVpc: environment.functionsInVpc });
    this.tables = new StateTables(this, 'tables', { protectedFromDeletion: environment.protectedFromDeletion });
    const parameters = new MysqlParameters(this, 'parameters');
    this.groups = Array.from({ length: environment.groups }, (_, index) => {
      const name = `group-${index + 1}`;
      return new ShardGroup(this, name, { name, environment, network: this.network, parameters });
    });
  }
}
