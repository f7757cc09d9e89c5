import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The counts by operation, as its header names it: `AmazonSQS.SendMessageBatch`. */
export type RequestCounts = ReadonlyMap<string, number>;

interface CountedRequests extends AsyncDisposable {
  /** The variables by which a local stack finds the services. */
  readonly environment: Readonly<Record<string, string>>;
  counts(): RequestCounts;
  since(before: RequestCounts): RequestCounts;
}

const SERVICES = new URL('../../infra/support/serve-aws.ts', import.meta.url);

/** Serves SQS and DynamoDB from a separate process, and counts their requests. */
export async function countRequests(folder: string): Promise<CountedRequests> {
  const serving = spawn(process.execPath, [SERVICES.pathname, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(serving.stdout, 'data');
  const urls: Readonly<Record<'sqs' | 'dynamodb', string>> = JSON.parse(String(line));
  const counted = new Map<string, number>();
  const [sqs, dynamodb] = await Promise.all([proxyTo(urls.sqs, counted), proxyTo(urls.dynamodb, counted)]);
  return {
    environment: { AWS_ENDPOINT_URL_SQS: urlOf(sqs), AWS_ENDPOINT_URL_DYNAMODB: urlOf(dynamodb) },
    counts: () => new Map(counted),
    since: (before) => new Map([...counted].map(([name, count]) => [name, count - (before.get(name) ?? 0)])),
    async [Symbol.asyncDispose]() {
      for (const server of [sqs, dynamodb]) {
        server.closeAllConnections();
        server.close();
      }
      serving.kill();
      await once(serving, 'exit');
    },
  };
}

async function proxyTo(url: string, counted: Map<string, number>): Promise<Server> {
  const { hostname, port } = new URL(url);
  const server = createServer((asked, answer) => {
    const operation = String(asked.headers['x-amz-target'] ?? asked.url);
    counted.set(operation, (counted.get(operation) ?? 0) + 1);
    const { method, headers, url: path } = asked;
    const forwarded = request({ hostname, port, method, headers, path }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(answer);
    });
    forwarded.on('error', () => answer.destroy());
    asked.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
