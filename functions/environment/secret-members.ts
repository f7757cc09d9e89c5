/** Returns the members of a secret's JSON; none of any other text, which an error of JSON.parse would quote. */
export function secretMembers(text = ''): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
