import { AsyncLocalStorage } from 'node:async_hooks';

/** What ties lines of the log to the request that they come from. */
export interface RequestIds {
  readonly request_id: string;
  /** The caller's own, W3C Trace Context. */
  readonly traceparent?: string;
}

const current = new AsyncLocalStorage<RequestIds>();

/** Does some work as part of a request: whatever it waits for, and whatever that reports, knows the ids. */
export function duringRequest<T>(ids: RequestIds, work: () => T): T {
  return current.run(ids, work);
}

/** The ids of the request that this is part of; none where it is part of none, as in what runs all the time. */
export function requestIds(): Partial<RequestIds> {
  return current.getStore() ?? {};
}
