/** A piece of a page. Only `html` makes one of what it is given: everything else is text, and escaped. */
export class Markup {
  readonly text: string;

  /** @param text trusted: nothing of what was measured or named */
  constructor(text: string) {
    this.text = text;
  }
}

/** What can be put into markup; `undefined` is left out. */
export type Piece = Markup | string | number | undefined | readonly Piece[];

/** Markup of a literal and what is put into it: elements' content, or values of attributes in double quotes. */
export function html(literal: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return new Markup(String.raw({ raw: literal }, ...pieces.map(textOf)));
}

function textOf(piece: Piece): string {
  if (piece === undefined) return '';
  if (piece instanceof Markup) return piece.text;
  if (typeof piece === 'object') return piece.map(textOf).join('');
  return String(piece).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
