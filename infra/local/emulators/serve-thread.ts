import type { Login } from '../data-api/connections.ts';
import type { RightsByKey } from '../iam/rights.ts';
import { parentPort } from 'node:worker_threads';

/** A cluster of the RDS Data API, with the owner's login. */
export interface ServedCluster extends Login {
  readonly resourceArn: string;
}

export type ToService =
  | 'stop'
  | { readonly clusters: readonly ServedCluster[] }
  | { readonly id: number; readonly rights: RightsByKey };

/** Its URL, a refused call, or that it judges by rights. */
export type FromService = { readonly url: string } | { readonly refused: string } | { readonly judgedBy: number };

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
export const tellStack = (message: FromService): void => parentPort?.postMessage(message);

interface ToldService {
  setRights(rights: RightsByKey): unknown;
  /** For the RDS Data API. */
  setClusters?(clusters: readonly ServedCluster[]): void;
  close(): Promise<unknown>;
}

/** Reports where this thread's service is, then does what the stack tells it, in order. */
export function serveThread(url: string, { setRights, setClusters, close }: ToldService): void {
  parentPort?.on('message', async (message: ToService) => {
    if (message === 'stop') {
      await close();
      parentPort?.close();
      return;
    }
    if ('clusters' in message) {
      setClusters?.(message.clusters);
      return;
    }
    await setRights(message.rights);
    tellStack({ judgedBy: message.id });
  });
  tellStack({ url });
}
