import { drawBars } from './bar-plot.ts';
import { engineKind, isBound } from './sections.ts';
import type { Section } from './findings.ts';
import { drawLines } from './line-plot.ts';
import { html, type Markup } from './markup.ts';

/** One bench: what it found on one engine next to what it found on the others. */
export function benchSection(name: string, found: readonly Section[]): Markup {
  const what = [...new Set(found.map((section) => section.what))];
  return html`
<section id="bench-${name}" aria-labelledby="bench-${name}-name">
<h2 id="bench-${name}-name">${name}</h2>
${what.map((text) => html`<p>${text}</p>`)}
<div class="engines">${found.map(onEngine)}</div>
</section>`;
}

/** What a bench ran on, as its rows say: "MariaDB 10.11.6", or "Node 24.21.0" where there was no engine. */
export function subjectOf(section: Section): string {
  return isBound(section) ? section.run.engine : (section.measured[0]?.engine ?? section.run.engine);
}

/** How many rows passed: "17 of 18 passed". */
export function verdictOf({ measured }: Section): Markup {
  const passed = measured.filter((row) => row.passed).length;
  return html`<td class="${passed === measured.length ? 'passed' : 'failed'}">${passed} of ${measured.length} passed</td>`;
}

function onEngine(section: Section): Markup {
  const { name, measured, plots = [], run, seconds } = section;
  const engine = isBound(section) ? ` --engine ${engineKind(section)}` : '';
  return html`
<article>
<h3>${subjectOf(section)}</h3>
<p class="run"><time datetime="${run.started_at}">${minuteOf(run.started_at)}</time>, ${Math.round(seconds)} s, ${machineOf(section)}<br><code>npm run bench -- ${name}${engine} --seed ${run.seed}</code></p>
${plots.length === 0 ? undefined : html`<div class="plots">${plots.map((plot) => (plot.kind === 'bars' ? drawBars(plot) : drawLines(plot)))}</div>`}
<div class="scroll"><table>
<caption>${name} on ${subjectOf(section)}</caption>
<thead><tr><th scope="col">what</th><th scope="col">figure</th><th scope="col">bar</th><th scope="col">verdict</th></tr></thead>
<tbody>${measured.map(({ what, figure, bar, passed }) => html`
<tr><th scope="row">${what}</th><td>${figure}</td><td>${bar}</td><td class="${passed ? 'passed' : 'failed'}">${passed ? 'PASS' : 'FAIL'}</td></tr>`)}
</tbody>
</table></div>
</article>`;
}

/** "AMD EPYC, 2 processors, Node 24.21.0" */
export function machineOf({ run: { cpu, node } }: Section): string {
  return `${cpu.model}, ${cpu.count === 1 ? 'one processor' : `${cpu.count} processors`}, Node ${node}`;
}

/** "2026-11-22 05:10 UTC" */
export function minuteOf(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
