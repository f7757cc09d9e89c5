/** What a `.properties` file says, as YCSB's Java reads it. */
export type Properties = ReadonlyMap<string, string>;

/**
 * Reads lines of a key and a value, with `=`, `:` or blanks between them. A line that begins with `#` or `!` is a
 * comment, one that ends with a backslash goes on in the next, and of a key that comes twice the last one counts.
 * Escapes of single characters stand for those; `\u` is not read.
 */
export function parseProperties(text: string): Properties {
  const properties = new Map<string, string>();
  for (const line of logicalLines(text)) {
    const [, key = '', value = ''] = /^((?:\\.|[^\\=:\s])*)[^\S\n]*[=:]?[^\S\n]*(.*)$/su.exec(line) ?? [];
    properties.set(unescaped(key), unescaped(value));
  }
  return properties;
}

/** Without comments, blank lines and the blanks at their beginnings. */
function logicalLines(text: string): readonly string[] {
  const lines: string[] = [];
  let begun: string | undefined;
  for (const natural of text.split(/\r\n|\r|\n/u)) {
    const line = natural.trimStart();
    if (begun === undefined && /^(?:$|[#!])/u.test(line)) continue;
    const whole: string = (begun ?? '') + line;
    // An even number of them are backslashes of the value.
    const goesOn = (/\\*$/u.exec(line)?.[0].length ?? 0) % 2 === 1;
    begun = goesOn ? whole.slice(0, -1) : undefined;
    if (!goesOn) lines.push(whole);
  }
  return begun === undefined ? lines : [...lines, begun];
}

function unescaped(text: string): string {
  const signs: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f' };
  return text.replace(/\\(.)/gsu, (_, sign: string) => signs[sign] ?? sign);
}
