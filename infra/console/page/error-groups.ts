import type { ParkedCell } from '../../../shared/api/trigger-shapes.ts';

const KEYS = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/giu;
const NUMBERS = /\d+(?:[.,:]\d+)*/gu;
const LENGTH = 160;

export type ErrorGroup = ReturnType<typeof errorGroups>[number];

/** Groups by error, with `…` for keys and numbers, which differ from cell to cell. */
export function errorGroups(cells: readonly ParkedCell[]) {
  const groups = Map.groupBy(cells, ({ last_error: text }) =>
    text.slice(0, LENGTH).replaceAll(KEYS, '…').replaceAll(NUMBERS, '…'),
  );
  return [...groups]
    .map(([text, own]) => ({ text, cells: own, last: latest(own) }))
    .sort((one, other) => other.cells.length - one.cells.length);
}

function latest(cells: readonly ParkedCell[]): string {
  let last = '';
  for (const { last_failed_at: at } of cells) if (at > last) last = at;
  return last;
}
