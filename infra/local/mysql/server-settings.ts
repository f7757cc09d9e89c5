import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineKind, InstalledEngine } from '../../setup/engine.mjs';
import { openFilesLimit } from '../platform/process-table.ts';
import { SERVER_HOST, type ServerSize } from './node-status.ts';

const MAX_CONNECTIONS = 600;
/** An entity table, index tables, a second datastore. */
const TABLES_PER_SHARD = 6;
/** One append opens its table four times; each index adds one. */
const HANDLES_PER_SHARD = 8;
/** Logs, binlogs, the server's own tables. */
const OTHER_FILES = 600;
const SOCKET_PATH_BYTES = 103;

/** The settings that the servers of a stack share. */
export interface ServerSettings {
  readonly engine: InstalledEngine;
  /** The most shards of one group; sizes table caches and open files. */
  readonly shards: number;
  readonly size: ServerSize;
  readonly extraArguments: readonly string[];
}

interface ServerPlace {
  readonly folder: string;
  readonly port: number;
  /** Unique in the group for each stretch of history. */
  readonly serverId: number;
}

/** Used for new data folders too, so that the first start keeps its logs. */
export const REDO_SETTINGS: Readonly<Record<EngineKind, readonly string[]>> = {
  mysql: ['--loose-innodb-redo-log-capacity=64M'],
  mariadb: ['--innodb-log-file-size=64M'],
};

export function serverArguments(
  { engine, shards, size, extraArguments }: ServerSettings,
  { folder, port, serverId }: ServerPlace,
): readonly string[] {
  return [
    '--no-defaults',
    ...engine.ownArguments,
    ...asRoot(),
    `--datadir=${dataFolder(folder)}`,
    `--tmpdir=${temporaryFolder(folder)}`,
    `--socket=${socketPath(folder)}`,
    `--pid-file=${join(folder, 'server.pid')}`,
    `--bind-address=${SERVER_HOST}`,
    `--port=${port}`,
    '--skip-name-resolve',
    '--back-log=512',
    `--max-connections=${MAX_CONNECTIONS}`,
    `--init-file=${accountsFile(folder)}`,
    `--server-id=${serverId}`,
    '--read-only=ON',
    ...common(shards),
    ...REDO_SETTINGS[engine.kind],
    ...(engine.kind === 'mysql' ? MYSQL : MARIADB),
    ...(size === 'small' ? small(engine.kind, shards) : full(shards)),
    ...extraArguments,
  ];
}

export function dataFolder(nodeFolder: string): string {
  return join(nodeFolder, 'data');
}

/** Separate for each node: a starting server deletes leftovers of temporary tables. */
export function temporaryFolder(nodeFolder: string): string {
  return join(nodeFolder, 'tmp');
}

export function accountsFile(nodeFolder: string): string {
  return join(nodeFolder, 'accounts.sql');
}

export function asRoot(): readonly string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : [];
}

function common(shards: number): readonly string[] {
  return [
    // Acknowledged commits are on disk, in the table and in the binlog.
    '--sync-binlog=1',
    '--innodb-flush-log-at-trx-commit=1',
    '--log-bin=binlog',
    '--binlog-format=ROW',
    // All tables have keys, so bodies of deleted copies need no logging.
    '--binlog-row-image=MINIMAL',
    '--relay-log=relay',
    '--relay-log-recovery=ON',
    // Every node keeps every log, so that any node can be rebuilt.
    '--binlog-expire-logs-seconds=0',
    // Shorter than any caller waits; the default is 50 s.
    '--innodb-lock-wait-timeout=1',
    '--lock-wait-timeout=1',
    '--default-time-zone=+00:00',
    '--character-set-server=utf8mb4',
    '--max-allowed-packet=64M',
    '--performance-schema=OFF',
    '--innodb-buffer-pool-dump-at-shutdown=OFF',
    '--innodb-buffer-pool-load-at-startup=OFF',
    ...tableCaches(shards, openFilesLimit()),
  ];
}

function full(shards: number): readonly string[] {
  return [`--innodb-buffer-pool-size=${Math.max(128, 64 + Math.ceil((shards * 3) / 32))}M`];
}

/** Limits caches and growth steps; durability stays. */
function small(kind: EngineKind, shards: number): readonly string[] {
  return [
    // Other pages come from the machine's file cache.
    `--innodb-buffer-pool-size=${Math.max(48, 24 + Math.ceil((shards * 3) / 32))}M`,
    '--innodb-log-buffer-size=2M',
    // Steps of 64 MB would take six times an empty server's content.
    '--innodb-autoextend-increment=1',
    '--thread-cache-size=4',
    ...SMALL[kind],
  ];
}

const SMALL: Readonly<Record<EngineKind, readonly string[]>> = {
  // MySQL writes it in full at each start; a smaller one only flushes pages sooner.
  mysql: ['--loose-innodb-redo-log-capacity=16M'],
  mariadb: [
    // Recreated at each start; 12 MB by default.
    '--innodb-temp-data-file-path=ibtmp1:5M:autoextend',
    // The store's tables use neither engine.
    '--key-buffer-size=1M',
    '--aria-pagecache-buffer-size=8M',
  ],
};

/** Limits each server's heaps by thread: after large statements most of a writer's memory was free. */
export function serverEnvironment(size: ServerSize): NodeJS.ProcessEnv {
  // `npm start` sets it for the stack itself.
  const { MALLOC_ARENA_MAX: _, ...ours } = process.env;
  return size === 'small' ? { ...ours, MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' } : ours;
}

const MYSQL = [
  '--gtid-mode=ON',
  '--enforce-gtid-consistency=ON',
  '--mysqlx=OFF',
  '--event-scheduler=OFF',
  // On few cores, log threads and early page writes would slow the statements.
  '--loose-innodb-log-writer-threads=OFF',
  '--innodb-max-dirty-pages-pct-lwm=0',
  '--innodb-io-capacity=200',
  '--innodb-io-capacity-max=2000',
  '--skip-replica-start',
  '--replica-net-timeout=10',
  '--loose-replica-preserve-commit-order=ON',
];

const MARIADB = [
  '--gtid-strict-mode=ON',
  '--log-slave-updates=ON',
  '--skip-slave-start',
  '--slave-net-timeout=10',
  '--master-retry-count=0',
  // Parallel where the writer was, committed in its order.
  '--slave-parallel-mode=conservative',
  '--slave-parallel-threads=4',
  // Statement texts would double the log.
  '--binlog-annotate-row-events=OFF',
];

/** Keeps every table of every shard open, as far as the limit of open files allows. */
function tableCaches(shards: number, limit: number): readonly string[] {
  const handles = Math.max(2000, shards * HANDLES_PER_SHARD);
  const tableFiles = Math.max(2000, shards * TABLES_PER_SHARD);
  // The engines count two files for each handle, and lower the cache beyond the limit.
  const files = Math.min(
    limit,
    Math.max(10 + MAX_CONNECTIONS + 2 * handles, MAX_CONNECTIONS + OTHER_FILES + tableFiles),
  );
  return [
    `--open-files-limit=${files}`,
    // Each further instance would need room for every table.
    '--table-open-cache-instances=1',
    `--table-open-cache=${Math.max(400, Math.min(handles, Math.floor((files - 10 - MAX_CONNECTIONS) / 2)))}`,
    `--table-definition-cache=${tableFiles + 400}`,
    `--innodb-open-files=${Math.max(200, Math.min(tableFiles, files - MAX_CONNECTIONS - OTHER_FILES))}`,
  ];
}

function socketPath(folder: string): string {
  const near = join(folder, 'server.sock');
  if (Buffer.byteLength(near) <= SOCKET_PATH_BYTES) return near;
  return join(tmpdir(), `schemaless-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}.sock`);
}
