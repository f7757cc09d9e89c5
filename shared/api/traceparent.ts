/** Version, trace id, parent id and flags; of later versions more may follow. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-[\w.:/+=@-]{1,128})?$/u;

/** Whether the header `traceparent` is one of W3C Trace Context: no other goes into a log. */
export function isTraceparent(header: unknown): header is string {
  return typeof header === 'string' && TRACEPARENT.test(header);
}
