/** Compiles a policy's text: `*` stands for any characters, `?` for one. */
export function pattern(text: string, flags: string): RegExp {
  const escaped = text.replaceAll(/[\\^$.+()|[\]{}]/gu, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, `s${flags}`);
}
