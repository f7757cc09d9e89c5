import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '../listen.ts';

/** How a server takes If-None-Match and If-Match of writes. */
type Conditions = 'kept' | 'passed over' | 'refused';

/** Features that fauxqs lacks: conditional writes, and the list of multipart uploads neither complete nor aborted. */
export interface ConditionalS3 {
  readonly url: string;
  conditions: Conditions;
  /** Keys of uploads that are open, by their ids. */
  readonly uploads: Map<string, string>;
  /** Runs before each request is handled; a returned status answers it. */
  before: (request: Asked) => Promise<number | undefined> | undefined;
  close(): void;
}

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Starts a proxy of an S3 that ignores conditions. */
export async function conditionalS3(upstream: string): Promise<ConditionalS3> {
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  const s3: ConditionalS3 = {
    url: await listen(server),
    conditions: 'kept',
    uploads: new Map(),
    before: () => undefined,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  /** Conditional writes come one after the other. */
  let turn: Promise<unknown> = Promise.resolve();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', headers } = request;
    const url = new URL(request.url ?? '/', upstream);
    const body = await buffer(request);
    const status = await s3.before({ method, url, headers, body });
    const forwarded = (): Promise<Answer> => forward(url, { method, headers, body });
    const isConditional = headers['if-match'] !== undefined || headers['if-none-match'] !== undefined;
    const written = async (): Promise<Answer> => (await refusal(s3.conditions, url, headers)) ?? (await forwarded());
    let found: Answer;
    if (status !== undefined) found = failure(status, 'TestFailure');
    else if (method === 'GET' && url.searchParams.has('uploads')) found = listOf(s3.uploads);
    else if (method === 'PUT' && isConditional) found = await (turn = turn.then(written, written) as Promise<Answer>);
    else found = await forwarded();
    follow(s3.uploads, { method, url, found });
    response.writeHead(found.status, found.headers);
    response.end(found.body);
  }

  return s3;
}

/** Undefined if it may be written. */
async function refusal(
  conditions: Conditions,
  url: URL,
  headers: IncomingMessage['headers'],
): Promise<Answer | undefined> {
  if (conditions === 'refused') return failure(501, 'NotImplemented');
  if (conditions === 'passed over') return undefined;
  const { status, headers: of } = await forward(url, { method: 'HEAD', headers: {}, body: Buffer.alloc(0) });
  const etag = status === 200 ? of.etag : undefined;
  if (headers['if-none-match'] === '*' && etag !== undefined) return failure(412, 'PreconditionFailed');
  if (headers['if-match'] === undefined || headers['if-match'] === etag) return undefined;
  return etag === undefined ? failure(404, 'NoSuchKey') : failure(412, 'PreconditionFailed');
}

/** Knows which uploads are open. */
function follow(
  uploads: Map<string, string>,
  { method, url, found }: { readonly method: string; readonly url: URL; readonly found: Answer },
): void {
  if (found.status >= 300) return;
  const id = url.searchParams.get('uploadId');
  if (id !== null && method !== 'PUT') uploads.delete(id);
  const [, made] = /<UploadId>(.*)<\/UploadId>/u.exec(found.body.toString()) ?? [];
  if (method === 'POST' && url.searchParams.has('uploads') && made !== undefined)
    uploads.set(made, url.pathname.split('/').slice(2).join('/'));
}

function listOf(uploads: ReadonlyMap<string, string>): Answer {
  const begun = `<Initiated>${new Date().toISOString()}</Initiated>`;
  const items = [...uploads].map(([id, key]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId>${begun}</Upload>`);
  return xml(200, `<ListMultipartUploadsResult>${items.join('')}</ListMultipartUploadsResult>`);
}

function failure(status: number, code: string): Answer {
  return xml(status, `<Error><Code>${code}</Code><Message>As the test wants it</Message></Error>`);
}

function xml(status: number, text: string): Answer {
  return { status, headers: { 'content-type': 'application/xml' }, body: Buffer.from(text) };
}

function forward(
  url: URL,
  { method, headers, body }: Pick<Answer, 'headers' | 'body'> & { readonly method: string },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = ask(url, { method, headers: { ...headers, host: url.host } }, (response) => {
      buffer(response).then(
        (answered) => resolve({ status: response.statusCode ?? 500, headers: response.headers, body: answered }),
        reject,
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
