/** A room of `shared/` or `infra/`: a folder, and what it is for. */
export interface Room {
  /** Below `shared/` or `infra/`; empty for the files that lie there directly. */
  readonly path: string;
  readonly holds: string;
}

/** The order of `shared/`, from the bottom up: a file imports its own room and earlier ones (`oxlint.config.ts`). */
export const ROOMS: readonly Room[] = [
  { path: '', holds: 'the words that everything uses: cells, addresses, shards, times, errors' },
  { path: 'definitions', holds: 'datastores, indexes and triggers as their YAML says them' },
  { path: 'body', holds: 'bodies: JSON, its text, its bytes' },
  {
    path: 'api',
    holds: 'the operations of the HTTP API, each declared once for server, client, document, policies and command line',
  },
  { path: 'contract', holds: 'types alone: what a datastore and an index query are' },
  { path: 'client', holds: 'the datastore over HTTP' },
  { path: 'models', holds: 'records with cells and indexes, over any datastore' },
  {
    path: 'sql',
    holds: 'one group asked in SQL: the ways to it, circuits, the statements over cells, logs and buffers',
  },
  { path: 'dynamo', holds: 'a table of DynamoDB: its items, changes of them, leases' },
  { path: 'topology', holds: 'which group holds which shard, which indexes and triggers there are' },
  {
    path: 'access',
    holds: 'how the groups of a datastore are asked: what goes together, what waits, what is tried elsewhere',
  },
  { path: 'follow', holds: 'a log read on and on by workers who share its shards' },
  { path: 'index', holds: 'entries: what they should be, kept by writes, found by queries' },
  { path: 'store', holds: 'the datastore itself: puts, reads, logs, buffers' },
  { path: 'files', holds: 'cells in files: the logs of a datastore exported, part by part' },
  { path: 'index/repair', holds: 'what writes could not keep of the indexes, made good; builds' },
  { path: 'drain', holds: 'buffered copies brought to their primaries; a promoted primary recovered' },
  { path: 'triggers/state', holds: 'what is known of a trigger: its queue, its messages, parked cells, lags' },
  { path: 'triggers/manage', holds: 'what operators do with triggers' },
  { path: 'triggers/send', holds: 'cells from the logs to the queues' },
  { path: 'triggers/consume', holds: 'messages from the queues to the functions' },
  {
    path: 'erasures',
    holds: 'bodies taken away for good, from every place that has them, and the records of it; what is kept how long',
  },
  { path: 'sealed', holds: 'fields sealed under the keys of subjects; subjects forgotten' },
  { path: 'migrate', holds: 'schemas and catalogues brought to what is deployed' },
  { path: 'moves', holds: 'a shard copied to another group, compared, switched over, and back' },
  { path: 'preflight', holds: 'checks of an AWS account before and within a deployment' },
];

/** What local stack, command line and console may import of the core: whole rooms, and single files. */
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
  { path: 'capacity.ts', holds: 'costs and the connection budget' },
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
  { path: 'schemas', holds: 'JSON Schemas for editors' },
  { path: 'docs', holds: 'the documents and their checks' },
  { path: 'examples', holds: 'examples' },
  { path: 'package', holds: 'the npm packages' },
  { path: 'datastores', holds: 'the datastores that this deployment defines' },
];
