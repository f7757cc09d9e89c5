/**
 * Lines of an aligned table: each column as wide as its widest text, two blanks between them, numbers to the right.
 *
 * @param rows cells of the table; the first row is the heading
 * @param numeric places of the columns aligned to the right
 */
export function textTable(rows: readonly (readonly string[])[], numeric: readonly number[] = []): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((text, column) =>
        numeric.includes(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}

/** 12345 as "12,345". */
export function grouped(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}
