import type { LinePlot } from '../bench.ts';
import { html, type Markup } from './markup.ts';
import { linearScale, logScale, measuredNumber, shortNumber, type Scale } from './scale.ts';
import { anchorAt, LINE_HEIGHT, percent, textLines, wrapped } from './wrapped-text.ts';

type Line = LinePlot['lines'][number];
type Point = Line['points'][number];

/** Pixels. */
const AREA_HEIGHT = 190;
const TICKS_HEIGHT = 20;
const GAP = 10;
/** Of the width: what is left of the area is for the labels of the y axis. */
const [AREA_START, AREA_WIDTH] = [0.15, 0.82];
/** Lines after these have the colours and dashes of the first again. */
const STYLES = 6;
/** More points than this on a line would hide it. */
const MOST_DOTS = 40;

/** One line for each name, with a dot for each point. What has a width is in percent, so that text keeps its size on any page. */
export function drawLines({ title, x, y, logX, lines }: LinePlot): Markup {
  const points = lines.flatMap((line) => line.points);
  const across = (logX ? logScale : linearScale)(points.map(([at]) => at));
  const up = linearScale(points.map(([, value]) => value));
  const [yName, xName] = [wrapped(y), wrapped(logX ? `${x} (logarithmic)` : x)];
  const top = yName.length * LINE_HEIGHT + GAP;
  const xNameTop = top + AREA_HEIGHT + TICKS_HEIGHT;
  return html`<figure>
<figcaption>${title}</figcaption>
<div class="scroll"><svg role="img" aria-label="${title}: ${y} over ${x}, ${lines.length} lines" width="100%" height="${xNameTop + xName.length * LINE_HEIGHT + 4}">
${textLines(yName, 0)}
${drawGrid(across, up, top)}
<svg x="${percent(AREA_START)}" y="${top}" width="${percent(AREA_WIDTH)}" height="${AREA_HEIGHT}" overflow="visible">${lines.map((line, place) => drawLine(line, place % STYLES, across, up))}</svg>
${points.length === 0 ? html`<text x="50%" y="${top + AREA_HEIGHT / 2}" text-anchor="middle">nothing was measured</text>` : undefined}
<svg x="${percent(AREA_START)}" overflow="visible">${textLines(xName, xNameTop)}</svg>
</svg></div>
<ul class="key">${lines.map(({ name }, place) => html`<li><span class="sign line line-${place % STYLES}"></span>${name}</li>`)}</ul>
</figure>`;
}

function drawGrid(across: Scale, up: Scale, top: number): Markup {
  const bottom = top + AREA_HEIGHT;
  const [start, end] = [percent(AREA_START), percent(AREA_START + AREA_WIDTH)];
  const levels = up.ticks.map(({ at, text }) => {
    const level = bottom - at * AREA_HEIGHT;
    return html`<line class="grid" x1="${start}" x2="${end}" y1="${level}" y2="${level}"/><text class="tick" x="${percent(AREA_START - 0.015)}" y="${level + 4}" text-anchor="end">${text}</text>`;
  });
  const places = across.ticks.map(({ at, text }) => {
    const place = percent(AREA_START + at * AREA_WIDTH);
    // The first one has room to its left, under the labels of the other axis.
    return html`<line class="grid" x1="${place}" x2="${place}" y1="${top}" y2="${bottom + 4}"/><text class="tick" x="${place}" y="${bottom + 16}" text-anchor="${at < 0.5 ? 'middle' : anchorAt(at)}">${text}</text>`;
  });
  return html`${levels}${places}`;
}

function drawLine({ name, points }: Line, style: number, across: Scale, up: Scale): Markup {
  const ordered = points.toSorted(([one], [other]) => one - other);
  const path = ordered.map(([x, y]) => `${(across.at(x) * 100).toFixed(2)},${((1 - up.at(y)) * 100).toFixed(2)}`).join(' ');
  const dot = ([x, y]: Point): Markup => html`<circle class="line-${style}" cx="${percent(across.at(x))}" cy="${percent(1 - up.at(y))}" r="3.5"><title>${name}: ${measuredNumber(y)} at ${shortNumber(x)}</title></circle>`;
  return html`<svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" overflow="visible"><polyline class="line-${style}" points="${path}"/></svg>${points.length <= MOST_DOTS ? ordered.map(dot) : undefined}`;
}
