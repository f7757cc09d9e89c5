/** A room of `shared/` or `infra/`: a folder, and what it is for. */
export interface Room {
  /** Below `shared/` or `infra/`; empty for the files that lie there directly. */
  readonly path: string;
  readonly holds: string;
}

/** The order of `shared/`, from the bottom up: a file imports its own room and earlier ones (`oxlint.config.ts`). */
export const ROOMS: readonly Room[] = [
  { path: '', holds: 'terms and basic types: cells, addresses, shards, times, errors' },
  { path: 'definitions', holds: 'datastores, indexes and triggers, read from YAML and checked' },
  { path: 'body', holds: 'JSON bodies: parsing, encoding, comparison' },
  { path: 'api', holds: 'operations of the HTTP API, each declared once for all that use it' },
  { path: 'contract', holds: 'types of a datastore and of index queries' },
  { path: 'client', holds: 'the HTTP client' },
  { path: 'models', holds: 'typed records over any datastore' },
  { path: 'sql', holds: 'SQL to one group: adapters, circuit breakers, statements' },
  { path: 'dynamo', holds: 'DynamoDB tables: items, conditional changes, leases' },
  { path: 'topology', holds: 'the owner of each shard, and the deployed indexes and triggers' },
  { path: 'access', holds: 'calls to the groups of a datastore: batching, admission, failover' },
  { path: 'follow', holds: 'followers of logs, whose workers share the shards' },
  { path: 'index', holds: 'index entries: computed, maintained by writes, found by queries' },
  { path: 'store', holds: 'the datastore: writes, reads, logs, hints' },
  { path: 'files', holds: 'exports of logs to files' },
  { path: 'index/repair', holds: 'index repair and index builds' },
  { path: 'drain', holds: 'the drain, and the recovery of a promoted writer' },
  { path: 'triggers/state', holds: 'the state of a trigger: queue, messages, parked cells, lag' },
  { path: 'triggers/manage', holds: 'actions of operators on triggers' },
  { path: 'triggers/send', holds: 'cells, from the logs to the queues' },
  { path: 'triggers/consume', holds: 'messages, from the queues to the functions' },
  { path: 'erasures', holds: 'erasures, their records, and retention' },
  { path: 'sealed', holds: 'sealed fields, and the keys of their subjects' },
  { path: 'migrate', holds: 'schema migrations, and changes of definitions' },
  { path: 'moves', holds: 'shard moves: copy, compare, switch, reverse' },
  { path: 'preflight', holds: 'checks of an AWS account before and during a deployment' },
];

/** The parts of the core that local stack, command line and console may import: whole rooms, and single files. */
export const CORE_ENTRIES: readonly string[] = [
  '*.ts',
  ...['definitions', 'body', 'api', 'contract', 'client', 'models', 'files', 'preflight'].map((room) => `${room}/**`),
  'access/context.ts',
  'access/groups.ts',
  'dynamo/table.ts',
  'index/index-table.ts',
  'index/verify.ts',
  'moves/rebalance.ts',
  'sql/mysql-client.ts',
  'sql/statements/record-writer.ts',
  'topology/dynamo-topology.ts',
  'topology/topology.ts',
  'topology/trigger-catalogue.ts',
  'triggers/send/tailer-count.ts',
  'triggers/state/dynamo-trigger-store.ts',
];

/** The order of `infra/`, held in the same way. A path may name one file. */
export const INFRA_ROOMS: readonly Room[] = [
  { path: 'setup', holds: 'commands that make a fresh machine ready, in plain JavaScript' },
  { path: 'constructs', holds: 'the CDK constructs of the package' },
  { path: 'console', holds: 'the page of the console' },
  { path: '', holds: 'the context of the app and its environments' },
  { path: 'stacks', holds: 'the stacks that are deployed' },
  { path: 'app.ts', holds: 'the CDK app' },
  { path: 'capacity', holds: 'costs and the connection budget' },
  { path: 'local', holds: 'helpers of the local stack' },
  { path: 'local/platform', holds: 'processes, as the operating system lists them' },
  { path: 'local/data-api', holds: 'the RDS Data API in front of a MySQL server, as far as the store calls it' },
  { path: 'local/folder', holds: 'the data folder of a stack' },
  { path: 'local/mysql', holds: 'shard groups: real servers, replication, endpoints with faults' },
  { path: 'local/iam', holds: 'IAM policies, judged' },
  { path: 'local/login', holds: 'credentials of the stack and its functions' },
  { path: 'local/lambda', holds: 'functions in threads or processes' },
  { path: 'local/gateway', holds: 'the HTTP API' },
  { path: 'local/emulators', holds: 'DynamoDB, SQS, Secrets Manager, the RDS Data API' },
  { path: 'local/event-sources', holds: 'messages of queues that call functions' },
  { path: 'local/template', holds: 'the synthesized template, read and run' },
  { path: 'local/running', holds: 'a running stack, as its commands see it' },
  { path: 'local/snapshots', holds: 'snapshots of a running stack and its groups' },
  { path: 'local/control', holds: 'the control port, and the answers of its commands' },
  { path: 'local/stack', holds: 'a stack started, and changed when its sources change' },
  { path: 'local/commands', holds: 'npm start and its like' },
  { path: 'cli', holds: 'the command line' },
  { path: 'preflight', holds: 'the preflight as a command' },
  { path: 'restore', holds: 'the commands of a restore on AWS' },
  { path: 'schemas', holds: 'JSON Schemas for editors' },
  { path: 'docs', holds: 'the documents and their checks' },
  { path: 'examples', holds: 'examples' },
  { path: 'package', holds: 'the npm packages' },
  { path: 'datastores', holds: 'the datastores that this deployment defines' },
];
