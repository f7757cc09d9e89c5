import { CONSOLE_ROUTES, READS_BY_POST, ROUTES, type Operation } from '../../../shared/api/routes.ts';

/** What the console changes, where it may: all that it has buttons for, and no more. */
export const CONSOLE_ACTIONS = [
  'pauseTrigger',
  'resumeTrigger',
  'rewindTrigger',
  'retryParkedCells',
  'discardParkedCells',
  'replayDeadMessages',
  'discardDeadMessages',
  'discardBufferConflicts',
  'keepUndecidedWrites',
  'createMove',
  'switchMove',
  'reverseMove',
  'completeMove',
  'cancelMove',
  'verifyMove',
  'eraseCells',
] as const satisfies readonly Operation[];

/** Whether somebody's signature is put under a request of the page. */
type Passing = 'reads' | 'changes' | 'unknown';

/** Says what a request would do, by its route. The path is percent-encoded, without its query. */
export function passingOf(method: string, path: string): Passing {
  if (CONSOLE_ROUTES.some((route) => route.method === method && fits(route.path, path))) return 'reads';
  const own = ROUTES.filter((route) => route.method === method && fits(route.path, path));
  // Of several that fit, as `health` and the name of a datastore, the gateway takes the one that names more.
  const [route] = own.toSorted((one, other) => parametersIn(one.path) - parametersIn(other.path));
  if (!route) return 'unknown';
  if (method === 'GET' || READS_BY_POST.has(route.operation)) return 'reads';
  return (CONSOLE_ACTIONS as readonly Operation[]).includes(route.operation) ? 'changes' : 'unknown';
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
