export async function handler(event: unknown): Promise<void> {
  console.log('drained', JSON.stringify(event));
}
