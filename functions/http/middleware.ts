import type middy from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { gatewayResult, type Answer } from './answer.ts';
import { compressed } from './compress.ts';
import { logger } from '../environment/log.ts';
import { logProblem } from './log-problem.ts';
import { count } from '../environment/metrics.ts';
import { problemAnswer, shown } from './problem.ts';
import { requestIdOf, requestIdsOf } from './request-id.ts';

type Request = middy.Request<APIGatewayProxyEventV2, unknown>;
type Middleware = middy.MiddlewareObj<APIGatewayProxyEventV2, unknown>;

/** Makes a problem document of whatever an operation threw. */
export function answerProblems(): Middleware {
  return {
    onError: (request: Request) => {
      request.response = problemAnswer(shown(request.error), requestIdOf(request.event));
    },
  };
}

/** The counters of a request's outcomes, and its line in the log: at level DEBUG when nothing is wrong. */
export function observe(): Middleware {
  return {
    after: (request: Request) => {
      const answer = request.response as Answer;
      logger.debug('answered', circumstances(request, answer));
      countOutcomes(request, answer);
    },
    onError: (request: Request) => {
      const answer = request.response as Answer;
      const { code, status } = shown(request.error);
      logProblem(request.error, circumstances(request, answer));
      countOutcomes(request, answer, status < 500 ? [] : [code]);
    },
  };
}

/** Puts the answer into the gateway's form, with the request id, compressed for who takes that. */
export function answerGateway(): Middleware {
  const convert = async (request: Request): Promise<void> => {
    const { event } = request;
    const result = gatewayResult(request.response as Answer, requestIdOf(event));
    request.response = await compressed(result, event.headers?.['accept-encoding']);
  };
  return { after: convert, onError: convert };
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

function countOutcomes({ event }: Request, answer: Answer, otherwise: readonly string[] = []): void {
  count(answer.outcomes ?? otherwise, requestIdOf(event));
}
