import type { TriggerSummary } from '../../../../shared/api/trigger-shapes.ts';
import { html } from '../html.ts';
import { counted, countText, durationText } from '../text.ts';

interface Sample {
  /** In milliseconds. */
  readonly at: number;
  /** One for each label; null if unknown. */
  readonly values: readonly (number | null)[];
}

const LABELS = ['not sent', 'not consumed', 'queued'];
/** An hour of polls every two seconds; the oldest are dropped. */
const MOST = 1800;
/** Fewer points show no trend. */
const LEAST = 10;
const [WIDTH, HEIGHT] = [1000, 100];
const all = new Map<string, readonly Sample[]>();

/** Adds a sample to the earlier ones of the same trigger. */
export function sampled(datastore: string, { trigger, sent, lag, waiting }: TriggerSummary): readonly Sample[] {
  const name = `${datastore} ${trigger}`;
  const values = [sent.cells, lag.cells, waiting];
  const now = [...(all.get(name) ?? []).slice(-(MOST - 1)), { at: Date.now(), values }];
  all.set(name, now);
  return now;
}

/** Draws lines over time, of which the facts and the table have the last values as text. */
export function Lags({ samples }: { readonly samples: readonly Sample[] }) {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || samples.length < LEAST) return null;
  const most = Math.max(1, ...samples.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const points = (lane: number): string =>
    samples
      .map(({ at, values }) => [
        (WIDTH * (at - first.at)) / (last.at - first.at),
        HEIGHT * (1 - (values[lane] ?? 0) / most),
      ])
      .join(' ');
  return html`<figure class="chart">
    <svg viewBox=${`0 -3 ${WIDTH} ${HEIGHT + 6}`} preserveAspectRatio="none" aria-hidden="true">
      ${LABELS.map((_, lane) => html`<polyline class=${`lane-${lane}`} points=${points(lane)} />`)}
    </svg>
    <figcaption class="small quiet">
      <span>The last ${durationText((last.at - first.at) / 1000)}, from 0 to ${counted(most, 'cell')}</span>
      <span>${LABELS.map((label, lane) => html`<span><i class=${`lane lane-${lane}`}></i>${label} ${countText(last.values[lane])} </span>`)}</span>
    </figcaption>
  </figure>`;
}
