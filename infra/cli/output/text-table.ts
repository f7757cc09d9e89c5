import stringWidth from 'string-width';

interface TextTable {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly mark?: (header: string) => string;
  readonly width?: number | undefined;
  /** Least widths of the columns, so that tables below each other align. @default those of what is in them */
  readonly widths?: readonly number[];
}

const GAP = '  ';
/** To cut it shorter would say nothing. */
const LEAST_LAST = 12;

export function textTable({ headers, rows, mark = (header) => header, width, widths = [] }: TextTable): string {
  const columns = headers.map((header, position) =>
    [header, ...rows.map((row) => row[position] ?? '')].reduce(
      (widest, text) => Math.max(widest, stringWidth(text)),
      widths[position] ?? 0,
    ),
  );
  const before = columns.slice(0, -1).reduce((sum, column) => sum + column + GAP.length, 0);
  const room = width === undefined ? undefined : Math.max(LEAST_LAST, width - before);
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, position) => (position === headers.length - 1 ? cut(text, room) : pad(text, columns[position] ?? 0)))
      .join(GAP)
      .trimEnd();
  const head = headers.length === 0 ? [] : [mark(line(headers))];
  return [...head, ...rows.map(line)].join('\n');
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

/** Never within a character that is made of several. */
function cut(text: string, width: number | undefined): string {
  if (width === undefined || stringWidth(text) <= width) return text;
  let [kept, taken] = ['', 0];
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    taken += stringWidth(segment);
    if (taken > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
