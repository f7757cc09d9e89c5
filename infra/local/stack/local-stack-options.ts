import type { Access } from '../../../shared/environment.ts';
import type { ServerSize } from '../mysql/node-status.ts';
import type { TemplateOptions } from '../template/run-template.ts';

/** A local stack's options; `npm start` has flags for most of them. */
export interface LocalStackOptions extends TemplateOptions {
  /** 0 for any free port. */
  readonly port: number;
  readonly data: string;
  /** Shard groups, 1 to 20; never fewer than before. Undefined: as last time, else `groupsAtFirst`. */
  readonly groups?: number | undefined;
  /** The number in a new folder. */
  readonly groupsAtFirst: number;
  /** 0 to 5 for each group. */
  readonly readers: number;
  readonly shards?: number | undefined;
  /** The most shards of a datastore, 1 to 65,536, fixed once it exists. `shards` undefined: as last time, else this. */
  readonly shardsAtFirst: number;
  /** Undefined: a real MySQL on the machine, else MariaDB. */
  readonly engine?: 'mysql' | 'mariadb' | undefined;
  /** Restarts a dead server after so many seconds, as a managed cluster does; 0 = never. */
  readonly restartAfterSeconds: number;
  /** Minutes that drained copies are kept for a restore, 0 to 10,080. Undefined: as last time, first 0. */
  readonly keepCopies?: number | undefined;
  readonly access: Access;
  /** Origins that may ask, by comma; `:*` any port, `*` all, `none` none. Undefined: this machine's. */
  readonly cors?: string | undefined;
  /** Answers 403 to unsigned requests on routes that need a signature. */
  readonly checkSignatures: boolean;
  readonly datastores?: string | undefined;
  readonly app?: string | undefined;
  readonly projectFolder?: string | undefined;
  readonly functionsFolder?: string | undefined;
  readonly serverSize: ServerSize;
  readonly serverArguments: readonly string[];
}

export const DEFAULT_OPTIONS: LocalStackOptions = {
  port: 4000,
  data: '.local',
  groupsAtFirst: 3,
  readers: 1,
  // Balances well over a few groups; an empty store then takes 0.2 GB.
  shardsAtFirst: 64,
  restartAfterSeconds: 2,
  functions: 'threads',
  access: 'mysql',
  checkSignatures: false,
  functionIdleSeconds: 75,
  functionArguments: [],
  serverSize: 'small',
  serverArguments: [],
  log: () => {},
};
