import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { AlarmTopics } from './alarms.ts';
import type { Network } from './network.ts';
import type { StateTables } from './state-tables.ts';
import type { StoreEnvironment } from './store-environment.ts';

/** The inputs that the parts of a storage share. */
export interface StorageParts {
  readonly environment: StoreEnvironment;
  readonly network: Network;
  readonly tables: StateTables;
  /** Begins the logical ids of secrets: stores that share a stack need different ones. */
  readonly prefix: string;
  /** Undefined: the services' own keys. */
  readonly encryptionKey: IKey | undefined;
  readonly alarmTopics: AlarmTopics;
}
