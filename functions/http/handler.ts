// oxlint-disable-next-line import/no-named-as-default -- its types have the default export alone
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import type { Operation, Operations } from '../../shared/api/operation.ts';
import { SchemalessError, type ErrorCode } from '../../shared/errors.ts';
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

/** Before the function's time is up: enough to answer "not confirmed" instead of being cut off. */
const TIME_TO_ANSWER_MS = 250;

/**
 * A Lambda handler of operations, with who answers each. `open`: opens what they work on: asked with the first request,
 * again where it threw. `beside`: what it answers that is no part of the API, by method and path.
 */
export function httpHandler<Some extends Operations, Over>(
  operations: Some,
  answers: Answers<Some, Over>,
  open: () => Over,
  beside: Readonly<Record<string, HttpOperation<Over>>> = {},
): HttpHandler {
  let over: Over | undefined;
  const byRouteKey = new Map<string, HttpOperation<Over>>(Object.entries(beside));
  const led: { readonly path: string; readonly by: Operation; readonly answer: HttpOperation<Over> }[] = [];
  for (const [name, operation] of Object.entries(operations)) {
    const answer = checkedFirst(operation, answers[name as keyof Some] as never) as HttpOperation<Over>;
    const by = operation.by === undefined ? undefined : operations[operation.by];
    if (by === undefined) byRouteKey.set(routeKeyOf(operation), answer);
    else led.push({ path: operation.path, by, answer });
  }
  const operationOf = ({ routeKey, pathParameters }: APIGatewayProxyEventV2): HttpOperation<Over> | undefined => {
    const other = led.find(
      ({ by, path }) => routeKeyOf(by) === routeKey && filled(path, pathParameters) === filled(by.path, pathParameters),
    );
    return other?.answer ?? byRouteKey.get(routeKey);
  };

  const answer = middy<APIGatewayProxyEventV2>({
    timeoutEarlyInMillis: TIME_TO_ANSWER_MS,
    timeoutEarlyResponse: throwTimeout,
  })
    .use(ANSWERED)
    .handler(async (event: APIGatewayProxyEventV2): Promise<Answer> => {
      const operation = operationOf(event);
      if (operation === undefined)
        throw new SchemalessError(
          'unknown_route',
          `No such route: ${event.requestContext.http.method} ${event.rawPath}`,
        );
      const bodies = event.headers?.[BODIES.header];
      if (bodies === BODIES.shown) auditBodies(event);
      const request = httpRequest(event);
      const whole = await operation(request, (over ??= open()));
      const answer = bodies === BODIES.hidden ? withoutBodies(whole) : whole;
      const isRead = ['GET', 'HEAD'].includes(event.requestContext.http.method);
      return isRead ? unlessKnown(answer, request.header('if-none-match')) : answer;
    });
  return (event, context) => duringRequest(requestIdsOf(event), () => answer(event, context));
}

const routeKeyOf = ({ method, path }: Operation): string => `${method} ${path}`;

/** A route's path as a request has it. */
function filled(path: string, parameters: APIGatewayProxyEventV2['pathParameters'] = {}): string {
  return path.replaceAll(/\{(\w+)\}/gu, (_whole, name: string) => parameters[name] ?? '');
}

/** Who looks at bodies that the console keeps hidden is in the log, whatever becomes of it. */
function auditBodies(event: APIGatewayProxyEventV2): void {
  logger.info('bodies shown', {
    ...requestIdsOf(event),
    caller: httpRequest(event).caller,
    route: event.routeKey,
    path: event.rawPath,
  });
}

function throwTimeout(): never {
  throw new SchemalessError(
    'unavailable',
    'Not confirmed, repeat it: not done within the time that a request may take',
  );
}

type Request = middy.Request<APIGatewayProxyEventV2, unknown>;

/** Logs how a request ended, at level DEBUG when nothing is wrong. What an operation threw becomes a problem document. */
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

/** Counts outcomes, and puts the answer into the gateway's form, compressed for who takes that. */
async function finish(request: Request, answer: Answer, otherwise: readonly string[]): Promise<void> {
  const { event } = request;
  const id = requestIdOf(event);
  count(answer.outcomes ?? otherwise, id);
  request.response = await compressed(gatewayResult(answer, id), event.headers?.['accept-encoding']);
}

/** Never anything of a body. */
function circumstances({ event }: Request, answer: Answer): Record<string, string | number> {
  const [ids, ofGateway] = [requestIdsOf(event), event.requestContext.requestId];
  // The gateway's access log knows its own alone.
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
