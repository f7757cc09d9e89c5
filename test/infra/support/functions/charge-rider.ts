export async function handler(event: unknown): Promise<{ readonly batchItemFailures: readonly [] }> {
  console.log('charged', JSON.stringify(event));
  return { batchItemFailures: [] };
}
