// oxlint-disable-next-line import/no-named-as-default -- its types have the default export alone
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { DEFINING_HANDLER, ROUTES, type Route } from '../../shared/api/routes.ts';
import { SchemalessError } from '../../shared/errors.ts';
import type { Deployment } from '../../shared/store/deployment.ts';
import { duringRequest } from '../environment/request-ids.ts';
import type { Answer } from './answer.ts';
import { answerGateway, answerProblems, observe } from './middleware.ts';
import type { HttpOperation } from './operations/operation.ts';
import { httpRequest } from './request.ts';
import { requestIdsOf } from './request-id.ts';

export type HttpHandler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

/** The operations that a function has to answer, as the routes say. */
export type OperationsOf<Handler extends Route['handler'], Over = Deployment> = {
  readonly [operation in Extract<Route, { readonly handler: Handler }>['operation']]: HttpOperation<Over>;
};

/** The routes of a function that not every environment has. */
const DEFINING = new Set(
  ROUTES.filter(({ handler }) => handler === DEFINING_HANDLER).map(({ method, path }) => `${method} ${path}`),
);

/** Before the function's time is up: enough to answer "not confirmed" instead of being cut off. */
const TIME_TO_ANSWER_MS = 250;

/**
 * A Lambda handler for the routes of these operations.
 *
 * @param open gives what the operations work on; is asked with each request, and expected to open it once
 */
export function httpHandler<Handler extends Route['handler'], Over = Deployment>(
  operations: OperationsOf<Handler, Over>,
  open: () => Over,
): HttpHandler {
  const byRouteKey = new Map<string, HttpOperation<Over>>();
  const entries = new Map<string, HttpOperation<Over>>(Object.entries(operations));
  for (const { operation, method, path } of ROUTES) {
    const answers = entries.get(operation);
    if (answers !== undefined) byRouteKey.set(`${method} ${path}`, answers);
  }

  const answer = middy<APIGatewayProxyEventV2>({
    timeoutEarlyInMillis: TIME_TO_ANSWER_MS,
    timeoutEarlyResponse: throwTimeout,
  })
    .use(answerGateway())
    .use(observe())
    .use(answerProblems())
    .handler(async (event: APIGatewayProxyEventV2): Promise<Answer> => {
      const operation = byRouteKey.get(event.routeKey);
      if (operation === undefined && DEFINING.has(event.routeKey))
        throw new SchemalessError(
          'goes_by_deploy',
          'Not in this environment: datastores, indexes and triggers are made and deleted by a deployment',
        );
      if (operation === undefined)
        throw new SchemalessError(
          'unknown_route',
          `No such route: ${event.requestContext.http.method} ${event.rawPath}`,
        );
      return operation(httpRequest(event), open());
    });
  return (event, context) => duringRequest(requestIdsOf(event), () => answer(event, context));
}

function throwTimeout(): never {
  throw new SchemalessError(
    'unavailable',
    'Not confirmed, repeat it: not done within the time that a request may take',
  );
}
