/** Control characters, and those that turn the direction of text around: on a terminal they would act, not show. */
// oxlint-disable-next-line no-control-regex -- these are what it is about
const ACTING = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Text that a terminal shows and does nothing else with: what would act is written as in JSON. */
export function printable(text: string): string {
  return text.replaceAll(ACTING, escaped);
}

/** JSON text that is the same value, with no such character in it. */
export function printableJson(json: string): string {
  // Within JSON text they can only be in strings: its own line breaks are none of ours.
  return json.replaceAll(ACTING, (character) => (character === '\n' ? character : escaped(character)));
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
