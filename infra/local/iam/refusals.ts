import type { ServerResponse } from 'node:http';

/** As DynamoDB and Secrets Manager do. */
export function refuseAsJson(response: ServerResponse, why: string): void {
  answer(response, 400, { __type: 'com.amazon.coral.service#AccessDeniedException', message: why, Message: why });
}

/** As SQS does, which still sends its error name of the XML protocol. */
export function refuseAsSqs(response: ServerResponse, why: string): void {
  response.setHeader('x-amzn-query-error', 'AccessDenied;Sender');
  answer(response, 403, { __type: 'com.amazon.coral.service#AccessDeniedException', message: why });
}

/** As the RDS Data API does. */
export function refuseAsRest(response: ServerResponse, why: string): void {
  response.setHeader('x-amzn-errortype', 'AccessDeniedException');
  answer(response, 403, { message: why });
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify(body));
}
