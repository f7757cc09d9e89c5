import type { ErrorCode } from '../../../shared/errors.ts';

/** A request that nobody sends by accident. */
export interface HostileRequest {
  /** What is odd about it. */
  readonly what: string;
  readonly method: string;
  /** Path and query as they go over the wire. */
  readonly target: string;
  /** @default none */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Sent instead of all that, on a connection of its own. */
  readonly raw?: Buffer;
  /**
   * The code that it has to be refused with, the outcome of its first cell, or `answered` with 200. @default any answer
   * that is none of the server's faults
   */
  readonly wants?: ErrorCode | 'stored' | 'stored_before' | 'differs' | 'answered';
}

export interface HttpAnswer {
  /** 0 when the connection ended without an answer. */
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}
