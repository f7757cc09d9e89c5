import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { TriggerSummary } from '../../../../shared/api/trigger-shapes.ts';
import type { ChartProps } from '../chart.ts';
import { html } from '../html.ts';

interface Samples {
  readonly times: readonly number[];
  readonly sent: readonly number[];
  readonly consumed: readonly number[];
  readonly waiting: readonly (number | null)[];
}

/** An hour of looks each two seconds; the oldest go. */
const MOST = 1800;
const NONE: Samples = { times: [], sent: [], consumed: [], waiting: [] };
const all = new Map<string, Samples>();

/** Keeps what was seen, beside what was seen before of the same trigger. */
export function sampled(datastore: string, { trigger, sent, lag, waiting }: TriggerSummary): Samples {
  const name = `${datastore} ${trigger}`;
  const before = all.get(name) ?? NONE;
  const with_ = <One>(list: readonly One[], one: One): readonly One[] => [...list.slice(-(MOST - 1)), one];
  const now: Samples = {
    times: with_(before.times, Date.now() / 1000),
    sent: with_(before.sent, sent.cells),
    consumed: with_(before.consumed, lag.cells),
    waiting: with_(before.waiting, waiting),
  };
  all.set(name, now);
  return now;
}

/** The chart is loaded once it is to be drawn. */
export function Lags({ samples: { times, sent, consumed, waiting } }: { readonly samples: Samples }) {
  const [Chart, setChart] = useState<ComponentType<ChartProps>>();
  useEffect(() => {
    void import('../chart.ts').then(({ default: loaded }) => setChart(() => loaded as ComponentType<ChartProps>));
  }, []);
  if (!Chart) return null;
  const series = [
    { label: 'not sent', values: sent },
    { label: 'not consumed', values: consumed },
    { label: 'on the queue', values: waiting },
  ];
  return html`<${Chart} title="Cells behind, since this page is open" times=${times} series=${series} />`;
}
