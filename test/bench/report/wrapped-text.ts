import { html, type Markup } from './markup.ts';

/** Characters of a line, as many as fit into the narrowest plot. SVG does not wrap by itself. */
const LINE_CHARACTERS = 42;
/** Pixels from line to line. */
export const LINE_HEIGHT = 15;

/** The lines of a text, broken at blanks, or anywhere in a word that is longer than a line. */
export function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).flatMap(inPieces)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= LINE_CHARACTERS) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function inPieces(word: string): readonly string[] {
  return word.match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'gu')) ?? [];
}

/** Lines one below the other, from the left. @param top pixels above the first */
export function textLines(lines: readonly string[], top: number): Markup {
  return html`${lines.map((line, place) => html`<text x="0" y="${top + (place + 0.75) * LINE_HEIGHT}">${line}</text>`)}`;
}

/** "12.34%", for places that follow the width of the page. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`;
}

/** Text at a place of an axis is centred on it, but stays within it at its ends. */
export function anchorAt(share: number): string {
  if (share < 0.04) return 'start';
  return share > 0.96 ? 'end' : 'middle';
}
