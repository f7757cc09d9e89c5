/**
 * What a forwarder can do to its connections, old and new.
 *
 * - `delay`: every answer reaches the client this much later.
 * - `refuse`: connections are reset, new ones as soon as they come.
 * - `blackhole`: connections are taken, nothing goes through in either direction until the fault ends.
 * - `cut-answers`: the server gets the request; instead of its answer the client gets a reset connection.
 * - `drop-answers`: the server gets the request; the client gets nothing, on this connection, ever again.
 *
 * `share` (0 to 1) is the part of commands it happens to; the handshake of a connection is spared.
 */
export type Fault =
  | { readonly kind: 'delay'; readonly milliseconds: number }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'blackhole' }
  | { readonly kind: 'cut-answers'; readonly share: number }
  | { readonly kind: 'drop-answers'; readonly share: number };

/** Throws a RangeError that names the field when a number of the fault is out of its range. */
export function checkFault(fault: Fault): void {
  if (fault.kind === 'delay' && !(fault.milliseconds >= 0 && fault.milliseconds <= 600_000)) {
    throw new RangeError(`milliseconds: wanted 0 to 600000, got ${fault.milliseconds}`);
  }
  if ('share' in fault && !(fault.share >= 0 && fault.share <= 1)) {
    throw new RangeError(`share: wanted a number from 0 to 1, got ${fault.share}`);
  }
}
