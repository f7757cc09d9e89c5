/** A stand-in that says in the log that it ran. */
export async function handler(event: unknown): Promise<void> {
  console.log('rotated', JSON.stringify(event));
}
