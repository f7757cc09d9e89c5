/** A stand-in whose work is complete at the second look. */
let looks = 0;

export async function onEvent(event: {
  readonly RequestType: string;
  readonly ResourceProperties: unknown;
}): Promise<unknown> {
  looks = 0;
  console.log(event.RequestType, JSON.stringify(event.ResourceProperties));
  return { PhysicalResourceId: 'schemaless-migration' };
}

export async function isComplete(): Promise<{ readonly IsComplete: boolean }> {
  looks += 1;
  return { IsComplete: looks > 1 };
}
