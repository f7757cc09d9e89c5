import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, inject } from 'vitest';
import type { Servers } from '../../../support/servers.ts';

export interface HeapInput {
  readonly servers: Pick<Servers, 'groups' | 'dynamo' | 'dataApi' | 'access'>;
  readonly topologyTable: string;
  readonly stateTable?: string;
}

export type HeapTask =
  | {
      readonly work: 'request';
      readonly handler: 'read-cells' | 'query-index';
      readonly event: Partial<APIGatewayProxyEventV2>;
    }
  | { readonly work: 'drain' | 'recover'; readonly group: string }
  | { readonly work: 'list conflicts'; readonly datastore: string }
  | { readonly work: 'repair' };

/** A thread that dies once it needs more heap than it was given. */
interface SmallHeap {
  /** Does one thing at a time. @throws when the heap was too small for it */
  run<T>(task: HeapTask): Promise<T>;
  end(): void;
}

export function smallHeap(heapMb: number, tables: Omit<HeapInput, 'servers'>): SmallHeap {
  const { groups, dynamo, dataApi, access } = inject('servers');
  const workerData: HeapInput = { servers: { groups, dynamo, dataApi, access }, ...tables };
  const worker = new Worker(new URL('small-heap-worker.ts', import.meta.url), {
    workerData,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 16 },
  });
  const dead = new Promise<never>((_, reject) => {
    worker.once('error', reject).once('exit', (code) => reject(new Error(`the thread ended with ${code}`)));
  });
  dead.catch(() => undefined);
  afterAll(() => worker.terminate());
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  const post = (message: HeapTask | 'end'): void => worker.postMessage(message);
  return {
    async run<T>(task: HeapTask) {
      post(task);
      return ((await Promise.race([once(worker, 'message'), dead])) as [T])[0];
    },
    end: () => post('end'),
  };
}
