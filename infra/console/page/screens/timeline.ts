import { restate } from '../address.ts';
import type { ShownCell } from '../cells.ts';
import { html } from '../html.ts';
import { timeText, visible } from '../text.ts';

const WIDTH = 1000;
const LANE_PX = 18;
/** Cells of a lane closer than this share a mark. */
const STEP = 4;

interface TimelineProps {
  readonly cells: readonly ShownCell[];
  readonly names: readonly string[];
  readonly selected: number | undefined;
}

export function RowTimeline({ cells, names, selected }: TimelineProps) {
  const [last, first] = [cells[0], cells.at(-1)];
  if (!first || !last) return null;
  const [from, to] = [Date.parse(first.created_at), Date.parse(last.created_at)];
  const place = ({ created_at }: ShownCell): number =>
    to === from ? WIDTH / 2 : Math.round(((Date.parse(created_at) - from) / (to - from)) * (WIDTH - 8)) + 4;
  const height = names.length * LANE_PX;
  const chosen = cells.find(({ added_id }) => added_id === selected);
  return html`<figure class="timeline">
    <svg viewBox=${`0 0 ${WIDTH} ${height}`} height=${height} preserveAspectRatio="none" role="img" aria-label=${`When the cells were written: ${timeText(first.created_at)} to ${timeText(last.created_at)}`} onClick=${(event: MouseEvent) => choose(event, cells, place)}>
      ${names.map(
        (name, lane) =>
          html`<path class=${`lane-${lane % 8}`} d=${marks(
            cells.filter(({ column_name }) => column_name === name),
            lane,
            place,
          )} />`,
      )}
      ${chosen && html`<path class="looked" d=${`M${place(chosen)} 0v${height}`} />`}
    </svg>
    <figcaption class="small quiet">
      <span>${timeText(first.created_at)}</span>
      <span>${names.map((name, lane) => html`<span><i class=${`lane lane-${lane % 8}`}></i>${visible(name)} </span>`)}</span>
      <span>${timeText(last.created_at)}</span>
    </figcaption>
  </figure>`;
}

function marks(cells: readonly ShownCell[], lane: number, place: (cell: ShownCell) => number): string {
  const places = new Set(cells.map((cell) => Math.round(place(cell) / STEP) * STEP));
  return [...places].map((x) => `M${x} ${lane * LANE_PX + 3}v${LANE_PX - 6}`).join('');
}

/** Chooses the cell nearest to the pointer. */
function choose(event: MouseEvent, cells: readonly ShownCell[], place: (cell: ShownCell) => number): void {
  const box = (event.currentTarget as SVGElement).getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * WIDTH;
  let nearest: ShownCell | undefined;
  for (const cell of cells) if (!nearest || Math.abs(place(cell) - x) < Math.abs(place(nearest) - x)) nearest = cell;
  if (nearest) restate({ at: nearest.added_id });
}
