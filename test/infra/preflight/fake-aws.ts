import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { listen } from '../../support/listen.ts';

/** A response of AWS: an object as JSON, a text as it is, which is XML. */
export interface FakeAnswer {
  readonly status?: number;
  readonly body: object | string;
}

/** Answers by action; a list is gone through, and its last one stays. */
export type FakeAnswers = Readonly<Record<string, readonly FakeAnswer[]>>;

interface FakeAws extends AsyncDisposable {
  readonly url: string;
  /** How often each action was asked for. */
  readonly asked: ReadonlyMap<string, number>;
  /** The actions asked for, as policies name them: `rds:DescribeDBClusters`. */
  readonly actions: ReadonlySet<string>;
}

/** Answers as AWS does, by its Query protocol (XML), its JSON one and Lambda's REST; accepts any signature. */
export async function startFakeAws(answers: FakeAnswers): Promise<FakeAws> {
  const asked = new Map<string, number>();
  const actions = new Set<string>();
  const server = createServer(async (request, response) => {
    const action = actionOf(request, await text(request));
    const before = asked.get(action) ?? 0;
    asked.set(action, before + 1);
    actions.add(`${serviceOf(request)}:${action}`);
    const { status = 200, body } = answers[action]?.at(Math.min(before, answers[action].length - 1)) ?? {
      status: 501,
      body: { __type: 'NotInThisFake', message: action },
    };
    const isXml = typeof body === 'string';
    response.writeHead(status, {
      'content-type': isXml ? 'text/xml' : 'application/x-amz-json-1.1',
      // Lambda's errors are named here.
      ...(!isXml && '__type' in body && { 'x-amzn-errortype': String(body.__type) }),
    });
    response.end(isXml ? body : JSON.stringify(body));
  });
  return {
    url: await listen(server),
    asked,
    actions,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function actionOf({ headers, url = '' }: IncomingMessage, body: string): string {
  const target = headers['x-amz-target'];
  if (typeof target === 'string') return target.split('.').at(-1) ?? '';
  if (url.startsWith('/2016-08-19/account-settings')) return 'GetAccountSettings';
  if (url.startsWith('/account-settings')) return 'DescribeRegionSettings';
  return new URLSearchParams(body).get('Action') ?? url;
}

/** Whom the request is signed for, which is whom its right is named after. */
function serviceOf({ headers }: IncomingMessage): string {
  const [, service = ''] = /Credential=[^/]+\/\d+\/[^/]+\/([^/]+)\//u.exec(String(headers.authorization)) ?? [];
  return service;
}

export function result(action: string, inner: string): FakeAnswer {
  return { body: `<${action}Response><${action}Result>${inner}</${action}Result></${action}Response>` };
}

/** EC2 has no element for the result. */
export function ec2Result(action: string, inner: string): FakeAnswer {
  return { body: `<${action}Response><requestId>1</requestId>${inner}</${action}Response>` };
}

export function refusal(code: string, message: string, status = 400): FakeAnswer {
  const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, body: `<ErrorResponse>${error}<RequestId>1</RequestId></ErrorResponse>` };
}
