/**
 * The HTTP routes, once: the CDK app makes the API's routes from them, the handlers dispatch on them, the OpenAPI
 * document lists them. `handler` is the file in `functions/` that answers. `by` names another route of the same function
 * that takes the path as well: the gateway has no route of its own for it, since each takes one of the few resources of a
 * stack.
 */
export const ROUTES = [
  {
    operation: 'putCell',
    method: 'PUT',
    path: '/v1/{datastore}/cells/{row_key}/{column_name}/{ref_key}',
    handler: 'write-cells',
  },
  {
    operation: 'getCell',
    method: 'GET',
    path: '/v1/{datastore}/cells/{row_key}/{column_name}/{ref_key}',
    handler: 'read-cells',
  },
  {
    operation: 'getLatestCell',
    method: 'GET',
    path: '/v1/{datastore}/cells/{row_key}/{column_name}',
    handler: 'read-cells',
  },
  {
    operation: 'listVersions',
    method: 'GET',
    path: '/v1/{datastore}/cells/{row_key}/{column_name}/versions',
    handler: 'read-cells',
  },
  { operation: 'getRow', method: 'GET', path: '/v1/{datastore}/rows/{row_key}', handler: 'read-cells' },
  { operation: 'batchPut', method: 'POST', path: '/v1/{datastore}/batch-put', handler: 'write-cells' },
  { operation: 'batchRestore', method: 'POST', path: '/v1/{datastore}/batch-restore', handler: 'write-cells' },
  { operation: 'batchGet', method: 'POST', path: '/v1/{datastore}/batch-get', handler: 'read-cells' },
  { operation: 'batchRead', method: 'POST', path: '/v1/{datastore}/batch-read', handler: 'read-cells' },
  { operation: 'batchQuery', method: 'POST', path: '/v1/{datastore}/batch-query', handler: 'query-index' },
  { operation: 'readShardLog', method: 'GET', path: '/v1/{datastore}/shards/{shard}/cells', handler: 'read-cells' },
  { operation: 'digestLog', method: 'GET', path: '/v1/{datastore}/shards/{shard}/digest', handler: 'read-cells' },
  { operation: 'readLog', method: 'POST', path: '/v1/{datastore}/log', handler: 'read-cells' },
  { operation: 'listShards', method: 'GET', path: '/v1/{datastore}/shards', handler: 'read-cells' },
  { operation: 'listIndexes', method: 'GET', path: '/v1/{datastore}/indexes', handler: 'query-index' },
  { operation: 'queryIndex', method: 'GET', path: '/v1/{datastore}/indexes/{index}', handler: 'query-index' },
  { operation: 'countEntries', method: 'GET', path: '/v1/{datastore}/indexes/{index}/count', handler: 'query-index' },
  { operation: 'listTriggers', method: 'GET', path: '/v1/{datastore}/triggers', handler: 'manage-triggers' },
  { operation: 'getTrigger', method: 'GET', path: '/v1/{datastore}/triggers/{trigger}', handler: 'manage-triggers' },
  {
    operation: 'pauseTrigger',
    method: 'POST',
    path: '/v1/{datastore}/triggers/{trigger}/pause',
    handler: 'manage-triggers',
  },
  {
    operation: 'resumeTrigger',
    method: 'POST',
    path: '/v1/{datastore}/triggers/{trigger}/resume',
    handler: 'manage-triggers',
  },
  {
    operation: 'rewindTrigger',
    method: 'POST',
    path: '/v1/{datastore}/triggers/{trigger}/rewind',
    handler: 'manage-triggers',
  },
  {
    operation: 'listParkedCells',
    method: 'GET',
    path: '/v1/{datastore}/triggers/{trigger}/parked',
    handler: 'manage-triggers',
  },
  {
    operation: 'retryParkedCells',
    method: 'POST',
    path: '/v1/{datastore}/triggers/{trigger}/parked/retry',
    handler: 'manage-triggers',
  },
  {
    operation: 'discardParkedCells',
    method: 'POST',
    path: '/v1/{datastore}/triggers/{trigger}/parked/discard',
    handler: 'manage-triggers',
  },
  {
    operation: 'listDeadMessages',
    method: 'GET',
    path: '/v1/{datastore}/triggers/{trigger}/dead',
    handler: 'manage-triggers',
  },
  {
    operation: 'replayDeadMessages',
    method: 'POST',
    path: '/v1/{datastore}/triggers/{trigger}/dead/replay',
    handler: 'manage-triggers',
  },
  {
    operation: 'discardDeadMessages',
    method: 'POST',
    path: '/v1/{datastore}/triggers/{trigger}/dead/discard',
    handler: 'manage-triggers',
  },
  { operation: 'listMoves', method: 'GET', path: '/v1/{datastore}/moves', handler: 'manage-moves' },
  { operation: 'createMove', method: 'POST', path: '/v1/{datastore}/moves', handler: 'manage-moves' },
  { operation: 'getMove', method: 'GET', path: '/v1/{datastore}/moves/{shard}', handler: 'manage-moves' },
  { operation: 'switchMove', method: 'POST', path: '/v1/{datastore}/moves/{shard}/switch', handler: 'manage-moves' },
  { operation: 'reverseMove', method: 'POST', path: '/v1/{datastore}/moves/{shard}/reverse', handler: 'manage-moves' },
  {
    operation: 'completeMove',
    method: 'POST',
    path: '/v1/{datastore}/moves/{shard}/complete',
    handler: 'manage-moves',
  },
  { operation: 'cancelMove', method: 'POST', path: '/v1/{datastore}/moves/{shard}/cancel', handler: 'manage-moves' },
  { operation: 'verifyMove', method: 'POST', path: '/v1/{datastore}/moves/{shard}/verify', handler: 'manage-moves' },
  { operation: 'listErasures', method: 'GET', path: '/v1/{datastore}/erasures', handler: 'erase-cells' },
  { operation: 'eraseCells', method: 'POST', path: '/v1/{datastore}/erasures', handler: 'erase-cells' },
  { operation: 'getErasure', method: 'GET', path: '/v1/{datastore}/erasures/{erasure}', handler: 'erase-cells' },
  { operation: 'getRetention', method: 'GET', path: '/v1/{datastore}/retention', handler: 'erase-cells' },
  { operation: 'forgetSubject', method: 'POST', path: '/v1/{datastore}/subjects/forget', handler: 'erase-cells' },
  {
    operation: 'listForgotten',
    method: 'GET',
    path: '/v1/{datastore}/erasures/subjects',
    handler: 'erase-cells',
    by: 'getErasure',
  },
  { operation: 'getBuffer', method: 'GET', path: '/v1/{datastore}/buffer', handler: 'read-cells' },
  { operation: 'listBufferConflicts', method: 'GET', path: '/v1/{datastore}/buffer/conflicts', handler: 'read-cells' },
  {
    operation: 'discardBufferConflicts',
    method: 'POST',
    path: '/v1/{datastore}/buffer/conflicts/discard',
    handler: 'write-cells',
  },
  { operation: 'listUndecidedWrites', method: 'GET', path: '/v1/{datastore}/buffer/undecided', handler: 'read-cells' },
  {
    operation: 'keepUndecidedWrites',
    method: 'POST',
    path: '/v1/{datastore}/buffer/undecided/keep',
    handler: 'write-cells',
  },
  {
    operation: 'applyDefinitions',
    method: 'POST',
    path: '/v1/definitions/apply',
    handler: 'define-datastores',
  },
  {
    operation: 'deleteIndex',
    method: 'DELETE',
    path: '/v1/{datastore}/indexes/{index}',
    handler: 'define-datastores',
  },
  {
    operation: 'deleteTrigger',
    method: 'DELETE',
    path: '/v1/{datastore}/triggers/{trigger}',
    handler: 'define-datastores',
  },
  { operation: 'getHealth', method: 'GET', path: '/v1/health', handler: 'read-cells' },
  { operation: 'getOpenApi', method: 'GET', path: '/v1/openapi.json', handler: 'read-cells' },
] as const;

/** Routes next to the API, which its document does not describe: the files of the console. */
export const CONSOLE_ROUTES = [
  { method: 'GET', path: '/console' },
  { method: 'HEAD', path: '/console' },
  { method: 'GET', path: '/console/{file+}' },
  { method: 'HEAD', path: '/console/{file+}' },
] as const;

/** Who answers them. */
export const CONSOLE_HANDLER = 'read-cells' satisfies Route['handler'];

export type Route = (typeof ROUTES)[number];
export type Operation = Route['operation'];

/** What reads, and has its question in a body. */
export const READS_BY_POST: ReadonlySet<string> = new Set<Operation>([
  'batchGet',
  'batchRead',
  'readLog',
  'digestLog',
  'batchQuery',
]);

export const GATEWAY_ROUTES = ROUTES.filter((route) => !('by' in route));

/** Who answers the routes that are not everywhere: where it is not, they are answered that it goes by deploy. */
export const DEFINING_HANDLER = 'define-datastores' satisfies Route['handler'];

/** Who answers all other paths and methods: that there is no such route. */
export const DEFAULT_HANDLER = 'read-cells' satisfies Route['handler'];
