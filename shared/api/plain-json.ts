/** The header of an answer that JSON.parse reads without loss: all numbers are doubles, and keys keep their order. */
export const PLAIN_JSON = { 'x-json': 'plain' } as const;

/** Returns whether the value of that header says so. */
export function isPlainJson(header: string | readonly string[] | null | undefined): boolean {
  return header === PLAIN_JSON['x-json'];
}
