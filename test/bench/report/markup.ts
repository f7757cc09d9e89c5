/** A piece of a page. Only `html` makes one of what it is given: all else is text, and escaped. */
export interface Markup {
  /** Trusted: whoever makes one of other text has it from a library. */
  readonly markup: string;
}

type Piece = Markup | string | number | readonly Piece[];

/** Markup of a literal and what is put into it: elements' content, or values of attributes in double quotes. */
export function html(literal: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return { markup: String.raw({ raw: literal }, ...pieces.map(textOf)) };
}

function textOf(piece: Piece): string {
  if (typeof piece !== 'object') return String(piece).replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return 'markup' in piece ? piece.markup : piece.map(textOf).join('');
}
