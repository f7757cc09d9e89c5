import { TRANSACTIONS } from './transactions.ts';
import { BATCH_GET, BATCH_QUERY, BATCH_READ, BATCH_WRITES } from './batches.ts';
import { BUFFER_CHANGES, BUFFER_READS } from './buffer.ts';
import { CELL_READS, PUT_CELL } from './cells.ts';
import { DEFINITIONS } from './definitions.ts';
import { ERASURES } from './erasures.ts';
import { INDEX_LISTS, QUERIES } from './indexes.ts';
import { LOG_READS } from './logs.ts';
import { MOVES } from './moves.ts';
import { operations, type Caller, type Handler, type Operation } from './operation.ts';
import { parametersIn } from './path.ts';
import { SERVICE } from './service.ts';
import { SUBJECTS } from './subjects.ts';
import { TRIGGERS } from './triggers.ts';

/** Every operation of the API. A function imports only those that it answers. */
export const OPERATIONS = operations({
  ...PUT_CELL,
  ...CELL_READS,
  ...TRANSACTIONS,
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

/** The function that answers HEAD of its GETs, other methods with `method_not_allowed`, and other paths with `unknown_route`. */
export const DEFAULT_HANDLER = 'read-cells' satisfies Handler;

/** The parts of `/v1/{datastore}/NAME`. */
const SHARED_PARTS = 4;

/** A route of the gateway. */
interface GatewayRoute extends Pick<Route, 'path' | 'handler'> {
  readonly method: Route['method'] | 'HEAD';
  /** Undefined if it serves several. */
  readonly operation?: OperationName;
}

/** The routes of the gateway but for those of the console. The default handler needs none for HEAD. */
export const GATEWAY_ROUTES: readonly GatewayRoute[] = [
  ...ROUTES.filter(({ sharesRoute }) => sharesRoute !== true),
  ...sharedRoutes(ROUTES.filter(({ sharesRoute }) => sharesRoute === true)),
  ...sharedRoutes(withHeads(ROUTES).filter((one) => one.method === 'HEAD' && one.handler !== DEFAULT_HANDLER)),
];

/** Returns one route for all paths below `/v1/{datastore}/NAME`. */
function sharedRoutes(routes: readonly GatewayRoute[]): readonly GatewayRoute[] {
  const shared = routes.map(({ method, path, handler }) => {
    const [parts, below] = [path.split('/').slice(0, SHARED_PARTS).join('/'), path.split('/').length > SHARED_PARTS];
    return { method, path: below ? `${parts}/{rest+}` : parts, handler };
  });
  return [...new Map(shared.map((route) => [`${route.method} ${route.path}`, route])).values()];
}

/** Adds to each GET a HEAD with the same answer, whose body the gateway drops. */
export function withHeads<Some extends { readonly method: string }>(
  routes: readonly Some[],
): readonly (Omit<Some, 'method'> & { readonly method: Some['method'] | 'HEAD' })[] {
  return routes.flatMap((route) => (route.method === 'GET' ? [route, { ...route, method: 'HEAD' as const }] : [route]));
}

/** Returns the methods of a decoded path, sorted; none if the API has no such path. */
export function methodsOf(path: string): readonly string[] {
  const fitting = ROUTES.filter((route) => parametersIn(route.path, path) !== undefined);
  return [...new Set(withHeads(fitting).map(({ method }) => method))].toSorted();
}

/** Returns the operations that a kind of caller may call. */
export function operationsFor(caller: Caller): readonly OperationName[] {
  return ROUTES.filter(({ mayCall }) => mayCall.includes(caller)).map(({ operation }) => operation);
}

/** Returns whether an operation changes nothing. */
export function isRead({ method, reads }: Operation): boolean {
  return method === 'GET' || reads === true;
}

/** Routes outside the API and its document: the files of the console. */
export const CONSOLE_ROUTES = [
  { method: 'GET', path: '/console' },
  { method: 'HEAD', path: '/console' },
  { method: 'GET', path: '/console/{file+}' },
  { method: 'HEAD', path: '/console/{file+}' },
] as const;

/** The function that serves them. */
export const CONSOLE_HANDLER = 'read-cells' satisfies Handler;

/** The function for changes of definitions; environments without it answer `managed_by_deployment`. */
export const DEFINING_HANDLER = 'define-datastores' satisfies Handler;
