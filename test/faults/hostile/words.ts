/** Returns the words of some lines, in order: long lists of short texts without blanks. */
export function words(...lines: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return lines.flatMap((line) => line.split(' ')) as [string, ...string[]];
}
