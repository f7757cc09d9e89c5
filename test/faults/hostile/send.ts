import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { ErrorCode } from '../../../shared/errors.ts';

/** Longer than any function may take. */
const PATIENCE_MS = 40_000;
/** The server may wait for the rest of an invalid request; the connection is closed after this time. */
const RAW_PATIENCE_MS = 400;

export interface Sender extends Disposable {
  send(request: HostileRequest): Promise<HttpAnswer>;
}

export function sender(url: string, connections: number): Sender {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    send: (request) =>
      request.raw === undefined
        ? sendOver(agent, hostname, port, request)
        : sendRaw(hostname, Number(port), request.raw),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

function sendOver(
  agent: Agent,
  host: string,
  port: string,
  { method, target, headers = {}, body }: HostileRequest,
): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    const cut = (error: Error): void => resolve({ status: 0, contentType: '', text: error.message });
    const length =
      body === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': String(body.length) };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const outgoing = httpRequest(
      { agent, host, port, method, path: target, headers: { ...length, ...headers }, signal },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', cut);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-type'] ?? '',
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    // A refused body is not read to its end: the answer may be there all the same.
    outgoing.on('error', (error) => setTimeout(cut, 100, error));
    outgoing.end(body);
  });
}

function sendRaw(host: string, port: number, bytes: Buffer): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    let output = '';
    const socket = connect(port, host, () => socket.write(bytes));
    socket.setTimeout(RAW_PATIENCE_MS, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      output += chunk.toString('latin1');
      if (output.includes('\r\n\r\n')) socket.end();
    });
    // Only the end matters, whatever the reason.
    socket.on('error', () => undefined);
    socket.on('close', () =>
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(output)?.[1] ?? 0), contentType: '', text: output }),
    );
  });
}

/** A request that no client sends by accident. */
export interface HostileRequest {
  /** The oddity of the request. */
  readonly what: string;
  readonly method: string;
  /** Path and query as they are sent. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Bytes sent instead of all that, on a separate connection. */
  readonly raw?: Buffer;
  /**
   * The code that must refuse it, the outcome of its first cell, or `answered` with 200. @default any answer that is no
   * fault of the server
   */
  readonly wants?: ErrorCode | 'stored' | 'stored_before' | 'differs' | 'answered';
}

export interface HttpAnswer {
  /** 0 if the connection ended without an answer. */
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}
