/** The words of some lines, in their order: long lists of short texts, none of which has a blank in it. */
export function words(...lines: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return lines.flatMap((line) => line.split(' ')) as [string, ...string[]];
}
