import type { BarPlot } from '../bench.ts';
import { html, type Markup } from './markup.ts';
import { linearScale, measuredNumber, type Scale } from './scale.ts';
import { anchorAt, LINE_HEIGHT, percent, textLines, wrapped } from './wrapped-text.ts';

type Bar = BarPlot['bars'][number];

/** Pixels. */
const BAR_HEIGHT = 12;
const GAP = 9;
const AXIS_HEIGHT = 22;
/** How far the tick of what is allowed stands out of its bar. */
const OVERHANG = 4;
/** Of the width; the rest is for the values. */
const BARS_WIDTH = '78%';
const VALUES_START = '80%';

/** Horizontal bars, each below its label, so that a long one has the whole width on a narrow page too. */
export function drawBars({ title, unit, bars }: BarPlot): Markup {
  const scale = linearScale(bars.flatMap(({ value, least = 0, most = 0, bar = 0 }) => [value, least, most, bar]));
  let top = 0;
  const rows = bars.map((bar) => {
    const lines = wrapped(bar.label);
    const barTop = top + lines.length * LINE_HEIGHT + OVERHANG;
    const row = html`${textLines(lines, top)}${drawBar(bar, barTop, scale)}`;
    top = barTop + BAR_HEIGHT + GAP;
    return row;
  });
  return html`<figure>
<figcaption>${title} <span class="unit">(${unit})</span></figcaption>
<div class="scroll"><svg role="img" aria-label="${title}, ${unit}: ${bars.length} bars" width="100%" height="${top + AXIS_HEIGHT}">
${drawAxis(scale, top)}
${rows}
</svg></div>
${drawKey(bars)}
</figure>`;
}

function drawAxis({ ticks }: Scale, height: number): Markup {
  const lines = ticks.map(({ at }) => html`<line class="grid" x1="${percent(at)}" x2="${percent(at)}" y1="0" y2="${height}"/>`);
  const texts = ticks.map(({ at, text }) => html`<text class="tick" x="${percent(at)}" y="${height + 14}" text-anchor="${anchorAt(at)}">${text}</text>`);
  return html`<svg x="0" width="${BARS_WIDTH}" overflow="visible">${lines}${texts}</svg>`;
}

function drawBar({ label, value, least, most, bar, passed }: Bar, top: number, scale: Scale): Markup {
  const verdict = passed === undefined ? 'plain' : passed ? 'passed' : 'failed';
  const [zero, end] = [scale.at(0), scale.at(value)];
  const middle = top + BAR_HEIGHT / 2;
  const spread = least === undefined && most === undefined ? undefined : [scale.at(least ?? value), scale.at(most ?? value)];
  const said = [`${label}: ${measuredNumber(value)}`, least !== undefined && `least ${measuredNumber(least)}`, most !== undefined && `most ${measuredNumber(most)}`, bar !== undefined && `bar ${measuredNumber(bar)}`];
  return html`<svg x="0" width="${BARS_WIDTH}" overflow="visible"><title>${said.filter(Boolean).join(', ')}</title>
<rect class="${verdict}" x="${percent(Math.min(zero, end))}" y="${top}" width="${percent(Math.abs(end - zero))}" height="${BAR_HEIGHT}"/>
${spread && drawWhisker(spread, middle)}
${bar === undefined ? undefined : html`<line class="wanted" x1="${percent(scale.at(bar))}" x2="${percent(scale.at(bar))}" y1="${top - OVERHANG}" y2="${top + BAR_HEIGHT + OVERHANG}"/>`}
</svg>
<text class="value ${verdict}" x="${VALUES_START}" y="${middle + 4}">${passed === false ? '✗ ' : ''}${measuredNumber(value)}</text>`;
}

function drawWhisker(spread: readonly number[], middle: number): Markup {
  const [start = 0, end = 0] = spread;
  const ends = [start, end].map((at) => html`<line class="whisker" x1="${percent(at)}" x2="${percent(at)}" y1="${middle - 3}" y2="${middle + 3}"/>`);
  return html`<line class="whisker" x1="${percent(start)}" x2="${percent(end)}" y1="${middle}" y2="${middle}"/>${ends}`;
}

/** What the signs mean, those that there are. */
function drawKey(bars: readonly Bar[]): Markup {
  const key = [
    bars.some(({ least, most }) => least !== undefined || most !== undefined) && html`<li><span class="sign whisker"></span>least to most seen</li>`,
    bars.some(({ bar }) => bar !== undefined) && html`<li><span class="sign wanted"></span>bar: the least or the most allowed</li>`,
    bars.some(({ passed }) => passed) && html`<li><span class="sign passed"></span>passed</li>`,
    bars.some(({ passed }) => passed === false) && html`<li><span class="sign failed"></span>✗ failed</li>`,
  ].filter((entry) => entry !== false);
  return key.length === 0 ? html`` : html`<ul class="key">${key}</ul>`;
}
