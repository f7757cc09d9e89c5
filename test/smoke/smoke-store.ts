import { afterEach, beforeEach, inject } from 'vitest';
import type { IndexOperations } from '../../shared/api/indexes.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { requestSigner, type Sign } from '../../shared/client/sign-request.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { patientStore } from './patient-store.ts';
import { storeOf } from '../support/store-of.ts';
import { DATASTORE, type Environment } from '../support/deployed/reach.ts';

declare module 'vitest' {
  interface ProvidedContext {
    smoke: Environment;
  }
  interface TaskMeta {
    /** The last requests of a check and how they were answered, with their request ids. */
    requests?: readonly string[];
  }
}

/** Enough to find a failure in the logs. */
const NOTED = 3;

let noted: readonly string[] = [];

/** Keeps each request for the report. */
export const notingFetch: typeof fetch = async (input, init) => {
  const { pathname, search } = new URL(input instanceof Request ? input.url : input);
  const note = (answer: string): void => {
    noted = [...noted, `${init?.method ?? 'GET'} ${pathname}${search}: ${answer}`].slice(-NOTED);
  };
  try {
    const response = await fetch(input, init);
    note(
      `${response.status}, request id ${response.headers.get('x-request-id') ?? response.headers.get('apigw-requestid') ?? 'not given'}`,
    );
    return response;
  } catch (error) {
    note('no answer');
    throw error;
  }
};

/** Hands the last requests of each check of a file to the report. */
export function noteRequests(): void {
  beforeEach(() => {
    noted = [];
  });
  afterEach(({ task }) => {
    task.meta.requests = noted;
  });
}

/**
 * Returns the datastore that is written to, over HTTP, with signed requests. Waits for a primary that is briefly
 * unavailable.
 */
export function smokeStore(): Datastore & IndexOperations {
  const { url, region, shards } = inject('smoke');
  return patientStore({
    ...storeOf(schemalessClient({ url, datastore: DATASTORE, sign: requestSigner(region), fetch: notingFetch })),
    shards,
  });
}

/** Sends a request that the client has no method for. */
export async function ask(method: string, path: string, sign: Sign | undefined): Promise<Response> {
  const url = new URL(`${inject('smoke').url}${path}`);
  const headers = await sign?.({ method, url, headers: {}, body: undefined });
  return notingFetch(url, { method, ...(headers && { headers }) });
}
