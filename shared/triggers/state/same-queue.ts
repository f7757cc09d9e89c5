/**
 * Whether two URLs are of one queue, which its account and its name tell: it may be reached at another host, or port,
 * as that of a local stack is after each start. Nothing is ever the same as no queue.
 */
export function isSameQueue(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  // Asked for each shard, and each time it is read.
  return one === other || nameOf(one) === nameOf(other);
}

function nameOf(queueUrl: string): string {
  return URL.canParse(queueUrl) ? new URL(queueUrl).pathname : queueUrl;
}
