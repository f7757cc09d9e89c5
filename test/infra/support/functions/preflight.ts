export async function onEvent(): Promise<{ readonly PhysicalResourceId: string }> {
  return { PhysicalResourceId: 'schemaless-preflight' };
}
