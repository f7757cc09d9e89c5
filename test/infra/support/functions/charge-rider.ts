/** A stand-in for the function of a trigger: says in the log what it got. */
export async function handler(event: unknown): Promise<{ readonly batchItemFailures: readonly [] }> {
  console.log('charged', JSON.stringify(event));
  return { batchItemFailures: [] };
}
