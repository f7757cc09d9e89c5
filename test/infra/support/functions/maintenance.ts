export async function handler(event: unknown): Promise<void> {
  console.log('repaired', JSON.stringify(event));
}
