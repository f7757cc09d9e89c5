import { setTimeout as sleep } from 'node:timers/promises';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { requestSigner } from '../../../shared/client/sign-request.ts';
import type { GroupHealth } from '../../../shared/api/service.ts';
import type { SmokeOptions } from './options.ts';

export const DATASTORE = 'smoke';

/** An environment that answers, and the facts that the checks need. */
export interface Environment extends SmokeOptions {
  readonly accessKeyId: string;
  /** Of its datastore `smoke`. */
  readonly shards: number;
  /** Whether any group has a reader that can be asked. */
  readonly readers: boolean;
}

/** A cluster that had paused resumes within this, as a rule. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 2000;
const ANSWER_MS = 31_000;

/**
 * Asks an environment whether it can be checked, with the credentials of the SDK's default provider chain.
 *
 * @param patienceMs how long answers of 429 and 5xx are waited out @default a minute
 * @throws an Error of one line that names the obstacle
 */
export async function reachEnvironment({ url, region }: SmokeOptions, patienceMs = PATIENCE_MS): Promise<Environment> {
  const { accessKeyId } = await credentials();
  const sign = requestSigner(region);
  const until = performance.now() + patienceMs; // Clock: a deployed cluster may have to resume

  async function ask(
    path: string,
  ): Promise<{ readonly status: number; readonly json: Readonly<Record<string, unknown>> }> {
    const place = new URL(`${url}${path}`);
    for (;;) {
      const headers = await sign({ method: 'GET', url: place, headers: {}, body: undefined });
      const { status, text } = await answerOf(place, headers);
      if (status === 403)
        throw new Error(
          `${place} was answered 403: the access key ${accessKeyId} may not call it (attach the policies readers and clients-${DATASTORE}), or its secret is another, or the region is not ${region}`,
        );
      if (status !== 429 && status < 500) return { status, json: readJson(text) };
      // Clock: a deployed cluster may have to resume
      if (performance.now() > until)
        throw new Error(`${place} is still answered ${status} after ${patienceMs / 1000} s: ${oneLine(text)}`);
      await sleep(Math.min(PAUSE_MS, patienceMs)); // Clock: between two requests
    }
  }

  const health = await ask('/v1/health');
  const groups = health.json['groups'];
  if (!Array.isArray(groups))
    throw new Error(`${url}: wanted the API of a Schemaless environment, got ${health.status} for /v1/health`);
  const { status, json } = await ask(`/v1/${DATASTORE}/shards`);
  if (json['code'] === 'unknown_datastore')
    throw new Error(`${url} has no datastore ${DATASTORE}: deploy infra/datastores/${DATASTORE} with it`);
  if (!Array.isArray(json['shards']))
    throw new Error(
      `${url}/v1/${DATASTORE}/shards: wanted a list of shards, got ${status} ${oneLine(JSON.stringify(json))}`,
    );
  return {
    url,
    region,
    accessKeyId,
    shards: json['shards'].length,
    readers: groups.some(({ reader }: GroupHealth) => reader.state === 'up' && reader.served_by === 'reader'),
  };
}

async function credentials(): Promise<{ readonly accessKeyId: string }> {
  try {
    return await defaultProvider()();
  } catch (cause) {
    throw new Error(
      `credentials: wanted some in the environment (AWS_ACCESS_KEY_ID, AWS_PROFILE) or of this machine's role, got none: ${oneLine(Object(cause).message)}`,
      { cause },
    );
  }
}

async function answerOf(
  place: URL,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(place, { headers, signal: AbortSignal.timeout(ANSWER_MS) });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    // fetch says "fetch failed" and keeps the reason in the cause.
    const { message, cause } = Object(error) as {
      readonly message?: string;
      readonly cause?: { readonly message?: string; readonly code?: string };
    };
    throw new Error(`${place.origin} does not answer: ${oneLine(cause?.message || cause?.code || message)}`, {
      cause: error,
    });
  }
}

/** Returns an object without members for a text that is not JSON. */
function readJson(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

function oneLine(text: unknown): string {
  return String(text).replaceAll(/\s+/gu, ' ').slice(0, 200);
}
