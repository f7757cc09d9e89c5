/** A list of names that have no spaces. */
export function words(text: string): readonly string[] {
  return text.trim().split(/\s+/u);
}
