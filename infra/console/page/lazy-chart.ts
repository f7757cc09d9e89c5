import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ChartProps } from './chart.ts';
import { html } from './html.ts';

export function LazyChart(props: ChartProps) {
  const [Chart, setChart] = useState<ComponentType<ChartProps>>();
  useEffect(() => {
    void import('./chart.ts').then(({ default: loaded }) => setChart(() => loaded as ComponentType<ChartProps>));
  }, []);
  return Chart ? html`<${Chart} ...${props} />` : null;
}
