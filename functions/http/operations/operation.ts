import type { Deployment } from '../../../shared/store/deployment.ts';
import type { Answer } from '../answer.ts';
import type { HttpRequest } from '../request.ts';

/**
 * Answers one route: reads the request, calls the datastore, says what came out. Checks the whole request before it
 * asks the deployment for anything. Errors are thrown as SchemalessError; the middleware makes the problem of them.
 *
 * @typeParam Over what it works on
 */
export type HttpOperation<Over = Deployment> = (request: HttpRequest, over: Over) => Promise<Answer>;
