import { CONSOLE_ROUTES, isRead, ROUTES } from '../../../shared/api/operations.ts';

/** Whether somebody's signature is put under a request of the page. */
type Passing = 'reads' | 'changes' | 'unknown';

/** Says what a request would do, by its route. The path is percent-encoded, without its query. */
export function passingOf(method: string, path: string): Passing {
  if (CONSOLE_ROUTES.some((route) => route.method === method && fits(route.path, path))) return 'reads';
  const own = ROUTES.filter((route) => route.method === method && fits(route.path, path));
  // Of several that fit, as `health` and the name of a datastore, the gateway takes the one that names more.
  const [route] = own.toSorted((one, other) => parametersIn(one.path) - parametersIn(other.path));
  if (!route) return 'unknown';
  if (isRead(route)) return 'reads';
  return route.mayCall.includes('console') ? 'changes' : 'unknown';
}

function parametersIn(path: string): number {
  return path.split('{').length;
}

/** Segment by segment; nothing that a server may take for another path has one. */
function fits(route: string, path: string): boolean {
  const [wanted, got] = [route.split('/'), path.split('/')];
  if (got.some((part) => /^(?:\.|%2e){1,2}$/iu.test(part) || part.includes('\\'))) return false;
  if (wanted.at(-1)?.endsWith('+}') !== true && wanted.length !== got.length) return false;
  if (got.length < wanted.length) return false;
  return wanted.every((part, position) => (part.startsWith('{') ? got[position] !== '' : part === got[position]));
}
