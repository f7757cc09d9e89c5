/**
 * The header of an answer of which JSON.parse loses nothing: no number in it is other than a double, no key would
 * change its place.
 */
export const PLAIN_JSON = { 'x-json': 'plain' } as const;

/** Whether an answer's headers say so; names in lower case. */
export function isPlainJson(header: string | readonly string[] | null | undefined): boolean {
  return header === PLAIN_JSON['x-json'];
}
