import type { Access } from '../../../shared/environment.ts';
import type { ServerSize } from '../mysql/server-size.ts';
import type { FunctionMode } from '../lambda/function-definition.ts';

/** What a local stack is started with; `npm start` has a flag for what people want to change. */
export interface LocalStackOptions {
  /** Port of the HTTP API, 0 for any free one. @default 4000 */
  readonly port: number;
  /** Folder of everything it keeps. @default .local */
  readonly data: string;
  /** Shard groups, 1 to 20; never fewer than there were. @default as many as last time, 3 at first */
  readonly groups: number | undefined;
  /** Of a new folder, where `groups` says nothing. @default 3 */
  readonly groupsAtFirst: number;
  /** Readers of each group, 0 to 5. @default 1 */
  readonly readers: number;
  /**
   * The most shards that a datastore gets, 1 to 65,536; fixed once it exists. @default as many as last time, 64 at
   * first
   */
  readonly shards: number | undefined;
  /** Of a new folder, where `shards` says nothing. @default 64 */
  readonly shardsAtFirst: number;
  /** @default a real MySQL if there is one on the machine, else MariaDB */
  readonly engine: 'mysql' | 'mariadb' | undefined;
  /** After how many seconds a server that died is started again, as a managed cluster would; 0 for never. @default 2 */
  readonly restartAfterSeconds: number;
  /** @default threads */
  readonly functions: FunctionMode;
  /** Workers that tail the shards for the triggers, 1 to 64. @default as many as last time, 1 at first */
  readonly tailers: number | undefined;
  /** Minutes that copies are kept after they were drained, 0 to 10,080: what a group that is set back gets back. @default as last time, 0 at first */
  readonly keepCopies: number | undefined;
  /** How functions reach MySQL. @default mysql */
  readonly access: Access;
  /**
   * Origins of web pages that may ask, with commas between them, `:*` for any port; `*` all, `none` none. @default those
   * of this machine
   */
  readonly cors: string | undefined;
  /** The HTTP API answers 403 to what is not signed, on the routes that need it. @default false */
  readonly checkSignatures: boolean;
  /** Folder of the datastores' YAML. @default infra/datastores */
  readonly datastores: string | undefined;
  /** Instances that share the calls of each function behind the HTTP API, 1 to 16. @default 1 */
  readonly functionInstances: number;
  /**
   * Heap of each instance in MB, 64 to 10,240; it ends when it needs more. @default the memory that the template gives
   * the function
   */
  readonly functionMemory: number | undefined;
  /**
   * An instance that is not called for so long is let go; 0 for never. Functions that are started each minute keep
   * theirs with anything over that. @default 75
   */
  readonly functionIdleSeconds: number;
  /** Further flags of Node for the processes of functions, as to look for leaks. */
  readonly functionArguments: readonly string[];
  /** Module that exports `buildApp(app)`. @default the app that is deployed */
  readonly app: string | undefined;
  /** Folder that the triggers' functions are given from. @default the root of the repository */
  readonly projectFolder: string | undefined;
  /** Folder of the functions. @default functions */
  readonly functionsFolder: string | undefined;
  /** What the MySQL servers take of the machine. @default small */
  readonly serverSize: ServerSize;
  /** Further arguments of the MySQL servers: unsafe flushing, as a control of what durability is worth. */
  readonly serverArguments: readonly string[];
  /** Told what is going on. */
  readonly log: (line: string) => void;
}

export const DEFAULT_OPTIONS: LocalStackOptions = {
  port: 4000,
  data: '.local',
  groups: undefined,
  groupsAtFirst: 3,
  readers: 1,
  shards: undefined,
  // Spreads as well over a few groups as more do, and an empty store with so many takes a fifth of a gigabyte.
  shardsAtFirst: 64,
  engine: undefined,
  restartAfterSeconds: 2,
  functions: 'threads',
  tailers: undefined,
  keepCopies: undefined,
  access: 'mysql',
  cors: undefined,
  checkSignatures: false,
  datastores: undefined,
  functionInstances: 1,
  functionMemory: undefined,
  functionIdleSeconds: 75,
  functionArguments: [],
  app: undefined,
  projectFolder: undefined,
  functionsFolder: undefined,
  serverSize: 'small',
  serverArguments: [],
  log: () => {},
};
