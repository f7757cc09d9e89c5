/** A room of `shared/`: a folder, and what it is for. */
interface Room {
  /** Below `shared/`; empty for the files that lie there directly. */
  readonly path: string;
  readonly holds: string;
}

/**
 * The order of `shared/`, from the bottom up: a file may import what lies in its own room and in those before it, types
 * included, and nothing of those behind it. The linter holds it (`oxlint.config.ts`), `npm run imports` draws it.
 */
export const ROOMS: readonly Room[] = [
  { path: '', holds: 'the words that everything uses: cells, addresses, shards, times, errors' },
  { path: 'definitions', holds: 'datastores, indexes and triggers as their YAML says them' },
  { path: 'body', holds: 'bodies: JSON, its text, its bytes' },
  { path: 'api', holds: 'the routes of the HTTP API and their schemas, once for server, client and document' },
  { path: 'contract', holds: 'types alone: what a datastore, an index query and the work on triggers are' },
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
    holds:
      'bodies taken away for good, from every place that has them, and the records of it; what is kept how long, and what is held; purges',
  },
  { path: 'sealed', holds: 'fields sealed under the keys of subjects; subjects forgotten; records signed' },
  { path: 'migrate', holds: 'schemas and catalogues brought to what is deployed' },
  { path: 'moves', holds: 'a shard copied to another group, compared, switched over, and back' },
];
