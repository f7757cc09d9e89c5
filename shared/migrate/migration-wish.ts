import type { DatastoreDefinition } from '../definitions/definitions.ts';
import type { DeployedTrigger, GroupAddress } from '../topology/topology.ts';

export interface MigrationWish {
  readonly groups: readonly GroupAddress[];
  readonly datastores: readonly WishedDatastore[];
  /** Datastores that are not among them stay as they are, with their triggers. @default false: this is all there is */
  readonly isPart?: boolean;
}

export type WishedDatastore = Omit<DatastoreDefinition, 'triggers'> & { readonly triggers: readonly DeployedTrigger[] };
