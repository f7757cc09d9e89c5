import type { Fault } from './fault.ts';
import type { Target } from './forwarder.ts';

export interface ForwarderThreadData {
  readonly done: Int32Array;
}

/** To the forwarders' thread; `id` is a forwarder's. */
export type ToForwarders =
  | { readonly kind: 'open'; readonly id: number; readonly host: string; readonly port: number }
  | { readonly kind: 'fault'; readonly id: number; readonly fault: Fault | undefined }
  | { readonly kind: 'drop' | 'forget'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number }
  | { readonly kind: 'end' }
  /** The target of a new connection. */
  | { readonly kind: 'target'; readonly ask: number; readonly target: Target | undefined };

export type FromForwarders =
  | { readonly kind: 'done'; readonly id: number; readonly port: number }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string; readonly code: string | undefined }
  | { readonly kind: 'ask'; readonly id: number; readonly ask: number };
