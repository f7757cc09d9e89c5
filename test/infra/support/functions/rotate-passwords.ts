export async function handler(event: unknown): Promise<void> {
  console.log('rotated', JSON.stringify(event));
}
