/** Whether two URLs are of one queue by account and name: a local stack's ports change. None equals none. */
export function isSameQueue(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  // Called for each shard, each time it is read.
  return one === other || nameOf(one) === nameOf(other);
}

function nameOf(queueUrl: string): string {
  return URL.canParse(queueUrl) ? new URL(queueUrl).pathname : queueUrl;
}
