import type { ServerResponse } from 'node:http';

/** As DynamoDB and Secrets Manager say it. */
export function refuseAsJson(response: ServerResponse, why: string): void {
  answer(response, 400, { __type: 'com.amazon.coral.service#AccessDeniedException', message: why, Message: why });
}

/** As SQS says it, which still names its errors as it did when it answered XML. */
export function refuseAsSqs(response: ServerResponse, why: string): void {
  response.setHeader('x-amzn-query-error', 'AccessDenied;Sender');
  answer(response, 403, { __type: 'com.amazon.coral.service#AccessDeniedException', message: why });
}

/** As the RDS Data API says it. */
export function refuseAsRest(response: ServerResponse, why: string): void {
  response.setHeader('x-amzn-errortype', 'AccessDeniedException');
  answer(response, 403, { message: why });
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify(body));
}
