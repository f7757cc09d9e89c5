/** Started every minute; follows the logs behind the index entries that writes leave. Nothing to do as yet. */
export async function handler(): Promise<void> {}
