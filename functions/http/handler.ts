// oxlint-disable-next-line import/no-named-as-default -- its types have the default export alone
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import type { Operation, Operations } from '../../shared/api/operation.ts';
import { namesIn, parametersIn } from '../../shared/api/path.ts';
import { SchemalessError, wrongField, type ErrorCode } from '../../shared/errors.ts';
import { METRICS } from '../../shared/metrics.ts';
import { logger, duringRequest, requestIdOf, requestIdsOf, count } from '../environment/log.ts';
import { compressed, gatewayResult, type Answer } from './answer.ts';
import { checkedFirst, type Answers, type HttpOperation } from './answering.ts';
import { BODIES, withoutBodies } from './hidden-bodies.ts';
import { logProblem, problemAnswer, shown } from './problem.ts';
import { httpRequest } from './request.ts';
import { unlessKnown } from './unless-known.ts';

export type HttpHandler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

/** The time before the function's limit that it needs to answer "not confirmed". */
const TIME_TO_ANSWER_MS = 250;

/**
 * Makes a Lambda handler of operations and their answers. `open`: opens the object that they work on, at the first
 * request, and again after it threw. `alongside`: operations outside the API, by method and path. `methodsOf`: returns the
 * methods of a path that no route has @default those of the operations
 */
export function httpHandler<Some extends Operations, Over>(
  operations: Some,
  answers: Answers<Some, Over>,
  open: () => Over,
  alongside: Readonly<Record<string, HttpOperation<Over>>> = {},
  methodsOf?: (path: string) => Promise<readonly string[]>,
): HttpHandler {
  let over: Over | undefined;
  const byRouteKey = new Map<string, HttpOperation<Over>>(Object.entries(alongside));
  for (const [name, operation] of Object.entries(operations))
    byRouteKey.set(routeKeyOf(operation), checkedFirst(operation, answers[name as keyof Some] as never));
  // A path may fit two: that with fewer parameters comes first, as for routes.
  const paths = Object.values(operations).toSorted(
    (one, other) => namesIn(one.path).length - namesIn(other.path).length,
  );

  const answer = middy<APIGatewayProxyEventV2>({
    timeoutEarlyInMillis: TIME_TO_ANSWER_MS,
    timeoutEarlyResponse: throwTimeout,
  })
    .use(ANSWERED)
    .handler(async (event: APIGatewayProxyEventV2): Promise<Answer> => {
      const routed = byRouteKey.has(event.routeKey) ? event : (ofSharedRoute(event, paths) ?? event);
      const operation = byRouteKey.get(routed.routeKey);
      if (operation === undefined)
        throw noOperation(event, (await methodsOf?.(event.rawPath)) ?? methodsIn(paths, event.rawPath));
      const bodies = event.headers?.[BODIES.header];
      if (bodies === BODIES.shown) auditBodies(event);
      const request = httpRequest(routed);
      const whole = await operation(request, (over ??= open()));
      const answer = bodies === BODIES.hidden ? withoutBodies(whole) : whole;
      const isRead = ['GET', 'HEAD'].includes(event.requestContext.http.method);
      return isRead ? unlessKnown(answer, request.header('if-none-match')) : answer;
    });
  return (event, context) => duringRequest(requestIdsOf(event), () => answer(event, context));
}

function methodsIn(operations: readonly Operation[], path: string): readonly string[] {
  const fitting = operations.filter((one) => parametersIn(one.path, path) !== undefined);
  return [...new Set(fitting.flatMap(({ method }) => (method === 'GET' ? [method, 'HEAD'] : [method])))].toSorted();
}

const routeKeyOf = ({ method, path }: Operation): string => `${method} ${path}`;

/** Returns the event of a route that several operations share as if it were of an operation's own. */
function ofSharedRoute(
  event: APIGatewayProxyEventV2,
  operations: readonly Operation[],
): APIGatewayProxyEventV2 | undefined {
  const { method } = event.requestContext.http;
  for (const operation of operations) {
    const isOf = operation.method === (method === 'HEAD' ? 'GET' : method);
    const pathParameters = isOf ? parametersIn(operation.path, event.rawPath) : undefined;
    if (pathParameters) return { ...event, routeKey: routeKeyOf(operation), pathParameters };
  }
  return undefined;
}

/** Logs the caller that reads bodies which the console hides, even if the request fails. */
function auditBodies(event: APIGatewayProxyEventV2): void {
  logger.info('bodies shown', {
    ...requestIdsOf(event),
    caller: httpRequest(event).caller,
    route: event.routeKey,
    path: event.rawPath,
  });
}

function noOperation({ requestContext, rawPath }: APIGatewayProxyEventV2, methods: readonly string[]): SchemalessError {
  const { method } = requestContext.http;
  return methods.length === 0
    ? new SchemalessError('unknown_route', `No such route: ${method} ${rawPath}`)
    : wrongField('method', methods.join(', '), method, 'method_not_allowed');
}

function throwTimeout(): never {
  throw new SchemalessError(
    'unavailable',
    'Not confirmed, repeat it: not done within the time that a request may take',
  );
}

type Request = middy.Request<APIGatewayProxyEventV2, unknown>;

/** Logs the end of a request, at level DEBUG if it succeeded. Turns errors into problem documents. */
const ANSWERED: middy.MiddlewareObj<APIGatewayProxyEventV2, unknown> = {
  after: async (request) => {
    const answer = request.response as Answer;
    logger.debug('answered', circumstances(request, answer));
    await finish(request, answer, []);
  },
  onError: async (request) => {
    const error = shown(request.error);
    const answer = problemAnswer(error, requestIdOf(request.event));
    logProblem(request.error, circumstances(request, answer));
    await finish(request, answer, error.status < 500 ? [] : failuresOf(error.code));
  },
};

/** Counts outcomes, and puts the answer into the gateway's form, compressed for clients that accept it. */
async function finish(request: Request, answer: Answer, otherwise: readonly string[]): Promise<void> {
  const { event } = request;
  const id = requestIdOf(event);
  count(answer.outcomes ?? otherwise, id);
  request.response = await compressed(gatewayResult(answer, id), event.headers?.['accept-encoding']);
}

/** Returns log members, without anything from a body. */
function circumstances({ event }: Request, answer: Answer): Record<string, string | number> {
  const [ids, ofGateway] = [requestIdsOf(event), event.requestContext.requestId];
  // The gateway's access log contains only its own id.
  return {
    ...ids,
    ...(ids.request_id === ofGateway ? {} : { gateway_request_id: ofGateway }),
    route: event.routeKey,
    path: event.rawPath,
    status: answer.status,
  };
}

/** Returns the code under which a failed request is counted; none for a caller's error. */
function failuresOf(code: ErrorCode): readonly string[] {
  return code === 'index_building' ? [code, METRICS.answeredIndexBuilding] : [code];
}
