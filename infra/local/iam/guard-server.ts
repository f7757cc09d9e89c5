import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { standBefore } from '../server.ts';
import { accessKeyIn } from './access-key.ts';
import type { CallsOf } from './calls-of.ts';
import { readRights, type Rights, type RightsByKey } from './rights.ts';

interface GuardOptions {
  readonly callsOf: CallsOf;
  readonly refuse: (response: ServerResponse, why: string) => void;
  readonly onRefused: (why: string) => void;
}

export type Guard = ReturnType<typeof guardServer>;

/** Refuses what a function's role does not allow. Others pass, and all do until rights are set. */
export function guardServer(server: Server, { callsOf, refuse, onRefused }: GuardOptions) {
  let rights: Rights = readRights({});
  standBefore(server, (request, response, handOn) => {
    const key = accessKeyIn(request.headers.authorization);
    if (!rights.knows(key)) return handOn(request, response);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const why = whyRefused(rights, key, () => callsOf(request, body.toString('utf8')));
      if (why === undefined) return handOn(readAgain(request, body), response);
      onRefused(why);
      refuse(response, why);
    });
  });
  return {
    /** Throws an Error for a statement that cannot be judged. */
    setRights(byKey: RightsByKey): void {
      rights = readRights(byKey);
    },
  };
}

function whyRefused(rights: Rights, key: string | undefined, calls: () => ReturnType<CallsOf>): string | undefined {
  let asked: ReturnType<CallsOf>;
  try {
    asked = calls();
  } catch {
    return 'The request is none that can be judged: wanted JSON of the service';
  }
  if (asked.length === 0) return 'The request asks nothing that can be judged';
  return asked.map((call) => rights.whyRefused(key, call)).find((why) => why !== undefined);
}

/** Copies the request for a handler that reads the body again. */
function readAgain(request: IncomingMessage, body: Buffer): IncomingMessage {
  const { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor } = request;
  const again = new IncomingMessage(request.socket);
  Object.assign(again, { method, url, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor, complete: true });
  again.headers = headers;
  again.push(body);
  again.push(null);
  return again;
}

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
