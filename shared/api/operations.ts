import { BATCH_GET, BATCH_QUERY, BATCH_READ, BATCH_WRITES } from './batches.ts';
import { BUFFER_CHANGES, BUFFER_READS } from './buffer.ts';
import { CELL_READS, PUT_CELL } from './cells.ts';
import { DEFINITIONS } from './definitions.ts';
import { ERASURES } from './erasures.ts';
import { INDEX_LISTS, QUERIES } from './indexes.ts';
import { LOG_READS } from './logs.ts';
import { MOVES } from './moves.ts';
import { operations, type Caller, type Handler, type Operation } from './operation.ts';
import { SERVICE } from './service.ts';
import { SUBJECTS } from './subjects.ts';
import { TRIGGERS } from './triggers.ts';

/** Every operation of the API. A function takes those alone that it answers. */
export const OPERATIONS = operations({
  ...PUT_CELL,
  ...CELL_READS,
  ...BATCH_WRITES,
  ...BATCH_GET,
  ...BATCH_READ,
  ...BATCH_QUERY,
  ...LOG_READS,
  ...INDEX_LISTS,
  ...QUERIES,
  ...TRIGGERS,
  ...MOVES,
  ...ERASURES,
  ...SUBJECTS,
  ...BUFFER_READS,
  ...BUFFER_CHANGES,
  ...DEFINITIONS,
  ...SERVICE,
});

export type OperationName = keyof typeof OPERATIONS;

/** An operation with its name. */
export interface Route extends Operation {
  readonly operation: OperationName;
}

/** All of them, for the routes of gateways and the document. */
export const ROUTES: readonly Route[] = Object.entries<Operation>(OPERATIONS).map(([operation, declared]) => ({
  ...declared,
  operation: operation as OperationName,
}));

/** The routes that the gateway has: others are taken by the route of another operation. */
export const GATEWAY_ROUTES = ROUTES.filter(({ by }) => by === undefined);

/** What these may call. */
export function operationsFor(caller: Caller, routes = ROUTES): readonly OperationName[] {
  return routes.filter(({ mayCall }) => mayCall.includes(caller)).map(({ operation }) => operation);
}

/** Whether an operation changes nothing. */
export function isRead({ method, reads }: Operation): boolean {
  return method === 'GET' || reads === true;
}

/** Routes beside the API, which its document does not describe: the files of the console. */
export const CONSOLE_ROUTES = [
  { method: 'GET', path: '/console' },
  { method: 'HEAD', path: '/console' },
  { method: 'GET', path: '/console/{file+}' },
  { method: 'HEAD', path: '/console/{file+}' },
] as const;

/** Who answers them. */
export const CONSOLE_HANDLER = 'read-cells' satisfies Handler;

/** Who answers the routes that are not everywhere: where it is not, they are answered that it goes by deploy. */
export const DEFINING_HANDLER = 'define-datastores' satisfies Handler;

/** Who answers all other paths and methods: that there is no such route. */
export const DEFAULT_HANDLER = 'read-cells' satisfies Handler;
