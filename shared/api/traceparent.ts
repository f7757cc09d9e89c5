/** Version, trace id, parent id and flags; later versions may append more. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-[\w.:/+=@-]{1,128})?$/u;

/** Returns whether a `traceparent` header is valid W3C Trace Context: no other is logged. */
export function isTraceparent(header: unknown): header is string {
  return typeof header === 'string' && TRACEPARENT.test(header);
}
