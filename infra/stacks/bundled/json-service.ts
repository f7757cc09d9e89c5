import type { Agent, IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultProvider, type Credentials } from './lambda-credentials.ts';
import { signedHeaders } from './sign.ts';

/** The settings that the store passes to clients of the SDK. */
export interface ServiceConfig {
  readonly endpoint?: string;
  readonly region?: string;
  readonly credentials?: Credentials | (() => Promise<Credentials>);
  readonly maxAttempts?: number;
  /** In milliseconds. @default the SDK's: no limit */
  readonly requestHandler?: { readonly connectionTimeout?: number; readonly requestTimeout?: number };
}

interface Service {
  /** In the name of its endpoint and in signatures. */
  readonly name: string;
  /** Names another endpoint, as for the SDK. */
  readonly endpointVariable: `AWS_ENDPOINT_URL_${string}`;
  /** Before the operation in the header `x-amz-target`. */
  readonly target: string;
  readonly contentType: string;
  /** Errors that callers know by their class, by name. */
  readonly errors: Readonly<Record<string, typeof ServiceError>>;
}

interface Command {
  readonly operation: string;
  readonly input: unknown;
}

/** Returns the class of an operation's commands. */
export function commandOf(operation: string): new (input: unknown) => Command {
  return class {
    readonly operation = operation;
    readonly input: unknown;
    constructor(input: unknown) {
      this.input = input;
    }
  };
}

/** An error that the service answered, named as in its documentation. */
export class ServiceError extends Error {
  readonly $metadata: { readonly httpStatusCode: number; readonly requestId: string | undefined };

  constructor(
    name: string,
    message: string,
    { statusCode = 0, headers }: Pick<IncomingMessage, 'statusCode' | 'headers'>,
  ) {
    super(message);
    this.name = name;
    this.$metadata = { httpStatusCode: statusCode, requestId: headers['x-amzn-requestid']?.toString() };
  }
}

const ATTEMPTS = 3;
const PAUSE_MS = 100;
const THROTTLED_PAUSE_MS = 500;
const THROTTLED =
  /^(?:Throttling|ThrottlingException|ThrottledException|RequestThrottled|RequestThrottledException|ProvisionedThroughputExceededException|RequestLimitExceeded|LimitExceededException|TooManyRequestsException|TransactionInProgressException)$/u;
/** A clock that differs by more makes signatures invalid. */
const MOST_SKEW_MS = 240_000;

/**
 * Replaces the SDK's client of a service that takes JSON by POST, in the bundles. The SDK's takes 31 to 250 KB: it
 * describes operations that are never called, and has serializers of other protocols. As the SDK's, it tries a request
 * three times after network errors, throttling and errors of the server.
 */
export class JsonServiceClient {
  readonly #service: Service;
  readonly #config: ServiceConfig;
  readonly #url: URL;
  readonly #http: Http;
  readonly #agent: Agent;
  readonly #region: string;
  readonly #credentials: () => Promise<Credentials>;
  #skewMs = 0;

  constructor(service: Service, config: ServiceConfig = {}) {
    this.#service = service;
    this.#config = config;
    const region = config.region ?? process.env['AWS_REGION'] ?? '';
    this.#url = new URL(config.endpoint ?? endpointOf(service, region));
    this.#http = httpOf(this.#url);
    this.#agent = new this.#http.Agent({ keepAlive: true, maxSockets: 50 });
    this.#region = region;
    const { credentials = defaultProvider() } = config;
    this.#credentials = typeof credentials === 'function' ? credentials : async () => credentials;
  }

  /** Throws a `ServiceError` for an answered error, the reason of `abortSignal`, or the network's error. */
  async send({ operation, input }: Command, { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<unknown> {
    const body = JSON.stringify(toWire(input));
    const { maxAttempts = ATTEMPTS } = this.#config;
    for (let attempt = 1; ; attempt += 1) {
      abortSignal?.throwIfAborted();
      try {
        return await this.#ask(operation, body, abortSignal);
      } catch (error) {
        if (attempt >= maxAttempts || abortSignal?.aborted || !mayPass(error)) throw error;
        const base = THROTTLED.test((error as Error).name) ? THROTTLED_PAUSE_MS : PAUSE_MS;
        await sleep(Math.random() * base * 2 ** (attempt - 1), undefined, abortSignal && { signal: abortSignal });
      }
    }
  }

  destroy(): void {
    this.#agent.destroy();
  }

  async #ask(operation: string, body: string, abortSignal: AbortSignal | undefined): Promise<unknown> {
    const { name, contentType, target } = this.#service;
    const headers = await signedHeaders(
      {
        service: name,
        region: this.#region,
        credentials: this.#credentials,
        at: new Date(Date.now() + this.#skewMs),
      },
      { host: this.#url.host, 'content-type': contentType, 'x-amz-target': `${target}.${operation}` },
      body,
    );
    const { answer, text } = await this.#post(headers, body, abortSignal);
    if (answer.statusCode === 200) return fromWire(JSON.parse(text || '{}'));
    const skewMs = Date.parse(answer.headers.date ?? '') - Date.now();
    const isSkewed = Math.abs(skewMs - this.#skewMs) > MOST_SKEW_MS;
    if (isSkewed) this.#skewMs = skewMs;
    const { __type = '', message, Message } = answeredError(text);
    const code = __type.replace(/^.*#/u, '') || `HTTP ${answer.statusCode}`;
    const Kind = this.#service.errors[code] ?? ServiceError;
    throw Object.assign(new Kind(code, message ?? Message ?? code, answer), { isSkewed });
  }

  #post(
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly answer: IncomingMessage; readonly text: string }> {
    const { connectionTimeout, requestTimeout } = this.#config.requestHandler ?? {};
    return new Promise((resolve, reject) => {
      const sent = this.#http.request(this.#url, {
        method: 'POST',
        agent: this.#agent,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        ...(signal && { signal }),
      });
      const giveUp = (limit: string, milliseconds: number | undefined): NodeJS.Timeout | undefined =>
        milliseconds === undefined
          ? undefined
          : setTimeout(() => {
              const error = new Error(`${this.#url.host}: ${limit} within ${milliseconds} ms`);
              sent.destroy(Object.assign(error, { name: 'TimeoutError' }));
            }, milliseconds);
      const whole = giveUp('no answer', requestTimeout);
      const connecting = giveUp('no connection', connectionTimeout);
      sent.on('socket', (socket) => {
        if (!socket.connecting) return clearTimeout(connecting);
        socket.once(this.#url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
      });
      const fail = (error: Error): void => {
        clearTimeout(whole);
        clearTimeout(connecting);
        reject(signal?.aborted ? (signal.reason as Error) : error);
      };
      sent.on('error', fail);
      sent.on('response', (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', fail);
        answer.on('end', () => {
          clearTimeout(whole);
          resolve({ answer, text: Buffer.concat(parts).toString() });
        });
      });
      sent.end(body);
    });
  }
}

type Http = Pick<typeof import('node:http'), 'Agent' | 'request'>;

/** Returns the module without an `import`, which would read all of its exports and load Node's fetch: 50 ms. */
function httpOf({ protocol }: URL): Http {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
}

interface Answered {
  readonly __type?: string;
  readonly message?: string;
  readonly Message?: string;
}

/** Parses an error; a proxy in between may answer anything. */
function answeredError(text: string): Answered {
  try {
    return Object(JSON.parse(text)) as Answered;
  } catch {
    return {};
  }
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return true;
  const { httpStatusCode } = error.$metadata;
  return (
    httpStatusCode >= 500 ||
    httpStatusCode === 429 ||
    THROTTLED.test(error.name) ||
    ('isSkewed' in error && error.isSkewed === true)
  );
}

/** Returns the address in the environment, or AWS's. */
function endpointOf({ name, endpointVariable }: Service, region: string): string {
  const given = process.env[endpointVariable] || process.env['AWS_ENDPOINT_URL'];
  if (given) return given;
  if (region === '') throw new Error('AWS_REGION: wanted a region, got none');
  const fips = process.env['AWS_USE_FIPS_ENDPOINT'] === 'true' ? '-fips' : '';
  return `https://${name}${fips}.${region}.${suffixOf(region)}`;
}

/** Returns the domain of a region's partition. */
function suffixOf(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn';
  if (region.startsWith('eusc-')) return 'amazonaws.eu';
  if (region.startsWith('us-iso-')) return 'c2s.ic.gov';
  if (region.startsWith('us-isob-')) return 'sc2s.sgov.gov';
  return 'amazonaws.com';
}

/** Encodes bytes as base64. */
function toWire(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64');
  if (Array.isArray(value)) return value.map(toWire);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toWire(member)]));
}

/** Decodes base64 in `B`, an attribute's bytes; no other text of an answer has this name. */
function fromWire(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const [name, member] of Object.entries(members))
    if (name === 'B' && typeof member === 'string') members[name] = Buffer.from(member, 'base64');
    else fromWire(member);
  return value;
}
