export async function handler(event: unknown): Promise<void> {
  console.log('moved', JSON.stringify(event));
}
