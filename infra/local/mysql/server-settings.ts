import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineKind, InstalledEngine } from '../../setup/engine.mjs';
import { openFilesLimit } from '../platform/process-table.ts';
import { SERVER_HOST } from './node-status.ts';
import type { ServerSize } from './server-size.ts';

const MAX_CONNECTIONS = 600;
/** An entity table and what belongs to it: index tables, a second datastore. */
const TABLES_PER_SHARD = 6;
/** One append opens its table four times, and each index has one more. */
const HANDLES_PER_SHARD = 8;
/** What the server opens beside tables: logs, binlogs, its own tables. */
const OTHER_FILES = 600;
/** The longest path that a Unix socket may have on macOS; on Linux it is 107. */
const SOCKET_PATH_BYTES = 103;

interface ServerSettings {
  readonly engine: InstalledEngine;
  /** The node's folder: `data` in it is the server's, beside its log and its socket. */
  readonly folder: string;
  readonly port: number;
  /** Unique in the group, and never used again for another history. */
  readonly serverId: number;
  /** Sizes caches and the number of open files. */
  readonly shards: number;
  readonly size: ServerSize;
  /** Later arguments win. */
  readonly extraArguments: readonly string[];
}

/** The settings that a data folder is made with, too, so that its logs need not be made anew at the first start. */
export const REDO_SETTINGS: Readonly<Record<EngineKind, readonly string[]>> = {
  mysql: ['--loose-innodb-redo-log-capacity=64M'],
  mariadb: ['--innodb-log-file-size=64M'],
};

/** The whole command line of a node's server. It starts read-only and without replication: roles are given later. */
export function serverArguments(settings: ServerSettings): readonly string[] {
  const { engine, folder } = settings;
  return [
    '--no-defaults',
    ...engine.ownArguments,
    ...asRoot(),
    `--datadir=${dataFolder(folder)}`,
    `--tmpdir=${temporaryFolder(folder)}`,
    `--socket=${socketPath(folder)}`,
    `--pid-file=${join(folder, 'server.pid')}`,
    `--bind-address=${SERVER_HOST}`,
    `--port=${settings.port}`,
    '--skip-name-resolve',
    '--back-log=512',
    `--max-connections=${MAX_CONNECTIONS}`,
    `--init-file=${accountsFile(folder)}`,
    `--server-id=${settings.serverId}`,
    '--read-only=ON',
    ...common(settings.shards),
    ...REDO_SETTINGS[engine.kind],
    ...(engine.kind === 'mysql' ? MYSQL : MARIADB),
    ...(settings.size === 'small' ? small(engine.kind, settings.shards) : full(settings.shards)),
    ...settings.extraArguments,
  ];
}

export function dataFolder(nodeFolder: string): string {
  return join(nodeFolder, 'data');
}

/** Each node's own: a server that starts deletes what it takes for leftovers of its temporary tables. */
export function temporaryFolder(nodeFolder: string): string {
  return join(nodeFolder, 'tmp');
}

/** SQL that the server runs before it listens. */
export function accountsFile(nodeFolder: string): string {
  return join(nodeFolder, 'accounts.sql');
}

/** The servers refuse to run as root unless told. */
export function asRoot(): readonly string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : [];
}

function common(shards: number): readonly string[] {
  return [
    // An acknowledged commit is on disk, in the table and in the log that readers follow.
    '--sync-binlog=1',
    '--innodb-flush-log-at-trx-commit=1',
    '--log-bin=binlog',
    '--binlog-format=ROW',
    // Rows are found by their keys, which all tables have: bodies of copies that are deleted are not logged once more.
    '--binlog-row-image=MINIMAL',
    '--relay-log=relay',
    '--relay-log-recovery=ON',
    // A node can be rebuilt from nothing at any time, since every node keeps every log.
    '--binlog-expire-logs-seconds=0',
    // Shorter than any caller waits; the engines' own 50 s are longer.
    '--innodb-lock-wait-timeout=3',
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

/** Sizes alone: of caches, which are read again from files, and of the steps in which files grow. */
function small(kind: EngineKind, shards: number): readonly string[] {
  return [
    // Pages that do not fit are read again, from the machine's own cache.
    `--innodb-buffer-pool-size=${Math.max(48, 24 + Math.ceil((shards * 3) / 32))}M`,
    // A commit writes the log out whole, however much of it fits in memory.
    '--innodb-log-buffer-size=2M',
    // By 64 MB at a time an empty server's own file would take six times its content.
    '--innodb-autoextend-increment=1',
    // Threads of connections that have ended, and what they have allocated.
    '--thread-cache-size=4',
    ...(kind === 'mysql' ? SMALL_MYSQL : SMALL_MARIADB),
  ];
}

const SMALL_MYSQL = [
  // Written in full at each start, unlike MariaDB's, which fills it as it goes. What is committed is in it either way;
  // with less of it pages are written out sooner.
  '--loose-innodb-redo-log-capacity=16M',
];

const SMALL_MARIADB = [
  // Made anew at each start, for temporary tables; 12 MB otherwise.
  '--innodb-temp-data-file-path=ibtmp1:5M:autoextend',
  // None of the store's tables are of these engines, and the server's own are small.
  '--key-buffer-size=1M',
  '--aria-pagecache-buffer-size=8M',
];

/**
 * What a server's process gets beside our environment. Each of its threads may allocate from a heap of its own, up to
 * eight for each core, none of which gives to the others: after a load of large statements most of a writer's memory
 * was free room in them.
 */
export function serverEnvironment(size: ServerSize): NodeJS.ProcessEnv {
  // The stack itself has two of them (`npm start`), which is not meant for its servers.
  const { MALLOC_ARENA_MAX: _, ...ours } = process.env;
  return size === 'small' ? { ...ours, MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' } : ours;
}

const MYSQL = [
  '--gtid-mode=ON',
  '--enforce-gtid-consistency=ON',
  '--mysqlx=OFF',
  '--event-scheduler=OFF',
  // Six servers on a machine's few cores: threads of their own for the log, and pages written out at ten thousand a
  // second from a tenth of the pool on, take what the statements need.
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
  // Side by side what the writer committed side by side; committed in the writer's order.
  '--slave-parallel-mode=conservative',
  '--slave-parallel-threads=4',
  // The text of every statement beside its rows would double the log.
  '--binlog-annotate-row-events=OFF',
];

/** Room for every table of every shard to stay open, as far as the process may open files. */
function tableCaches(shards: number, limit: number): readonly string[] {
  const handles = Math.max(2000, shards * HANDLES_PER_SHARD);
  const tableFiles = Math.max(2000, shards * TABLES_PER_SHARD);
  // The engines count two files for each handle, and lower the cache when the limit has no room for them.
  const files = Math.min(
    limit,
    Math.max(10 + MAX_CONNECTIONS + 2 * handles, MAX_CONNECTIONS + OTHER_FILES + tableFiles),
  );
  return [
    `--open-files-limit=${files}`,
    // In one piece: in several, each would need room for every table.
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
