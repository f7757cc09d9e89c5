import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { coloursNow } from './colours.ts';
import { html } from './html.ts';

export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly title: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

const LEAST_SECONDS = 60;
const HEIGHT_PX = 180;
const COLOURS = ['blue', 'orange', 'green'] as const;

/** Lines over time. What they say is in the table beside them, too, for who does not see them. */
export default function Chart({ title, times, series }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const labels = series.map(({ label }) => label).join();
  useEffect(() => {
    const holder = place.current;
    if (!holder) return undefined;
    const colours = coloursNow(...COLOURS, 'quiet', 'line');
    const axis = { stroke: colours.quiet, grid: { stroke: colours.line }, ticks: { stroke: colours.line } };
    const made = new uPlot(
      {
        width: holder.clientWidth,
        height: HEIGHT_PX,
        series: [
          {},
          ...series.map(({ label }, position) => ({ label, stroke: colours[COLOURS[position] ?? 'blue'], width: 2 })),
        ],
        axes: [axis, { ...axis, size: 70 }],
        scales: {
          y: { range: (_plot, _least, most) => [0, Math.max(1, most * 1.1)] },
        },
      },
      dataOf(times, series),
      holder,
    );
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: holder.clientWidth, height: HEIGHT_PX }));
    resized.observe(holder);
    return () => {
      resized.disconnect();
      made.destroy();
    };
  }, [labels]);
  useEffect(() => plot.current?.setData(dataOf(times, series)), [times]);
  return html`<figure class="chart"><figcaption>${title}</figcaption><div ref=${place} aria-hidden="true"></div></figure>`;
}

/** A few looks are not stretched over years: before the first one there is a time of which nothing is known. */
function dataOf(times: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  const [first, last] = [times[0], times.at(-1)];
  const isShort = first !== undefined && last !== undefined && last - first < LEAST_SECONDS;
  const padding = isShort ? [null] : [];
  return [
    [...(isShort ? [last - LEAST_SECONDS] : []), ...times],
    ...series.map(({ values }) => [...padding, ...values]),
  ];
}
