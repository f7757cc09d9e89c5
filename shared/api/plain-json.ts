/** The header of an answer of which JSON.parse loses nothing: only doubles, and no key changes its place. */
export const PLAIN_JSON = { 'x-json': 'plain' } as const;

/** Whether an answer's headers say so; names in lower case. */
export function isPlainJson(header: string | readonly string[] | null | undefined): boolean {
  return header === PLAIN_JSON['x-json'];
}
