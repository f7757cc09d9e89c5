/** A stand-in whose work is complete at the second look. */
let polls = 0;

export async function onEvent(event: {
  readonly RequestType: string;
  readonly ResourceProperties: unknown;
}): Promise<unknown> {
  polls = 0;
  console.log(event.RequestType, JSON.stringify(event.ResourceProperties));
  return { PhysicalResourceId: 'schemaless-migration' };
}

export async function isComplete(): Promise<{ readonly IsComplete: boolean }> {
  polls += 1;
  return { IsComplete: polls > 1 };
}
