/**
 * A forwarder's fault, for old and new connections.
 *
 * - `delay`: every answer is late.
 * - `refuse`: connections are reset.
 * - `blackhole`: connections are accepted, and nothing passes until the fault ends.
 * - `cut-answers`: the request passes; the connection is reset instead of an answer.
 * - `drop-answers`: the request passes; the connection never answers again.
 *
 * `share` (0 to 1) is the part of commands affected, handshakes excepted.
 */
export type Fault =
  | { readonly kind: 'delay'; readonly milliseconds: number }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'blackhole' }
  | { readonly kind: 'cut-answers'; readonly share: number }
  | { readonly kind: 'drop-answers'; readonly share: number };

/** Throws a RangeError that names the field. */
export function checkFault(fault: Fault): void {
  if (fault.kind === 'delay' && !(fault.milliseconds >= 0 && fault.milliseconds <= 600_000)) {
    throw new RangeError(`milliseconds: wanted 0 to 600000, got ${fault.milliseconds}`);
  }
  if ('share' in fault && !(fault.share >= 0 && fault.share <= 1)) {
    throw new RangeError(`share: wanted a number from 0 to 1, got ${fault.share}`);
  }
}
