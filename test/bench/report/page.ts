import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plot } from '../bench.ts';
import { commandOf, engineKind, type Section } from './findings.ts';
import { html, type Markup } from './markup.ts';
import { svgOf } from './plots.ts';

const STYLE: Markup = { markup: readFileSync(join(import.meta.dirname, 'page.css'), 'utf8') };

/** All findings as a page that needs neither a script nor anything from elsewhere. */
export async function page(sections: readonly Section[]): Promise<string> {
  const benches = [...Map.groupBy(sections, ({ name }) => name)];
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Schemaless: what was measured</title>
<style>
${STYLE}</style>
</head>
<body>
<header>
<h1>Schemaless: what was measured</h1>
<p>Each figure is of one run on one machine, on which the servers, the store and whatever measures them share the
processors. What is next to something else was measured in turn with it: such ratios say more than figures by themselves,
which another machine, or another day, would change.</p>
<p><code>npm run bench</code> measures all that takes minutes together, <code>npm run bench -- NAME --engine mariadb</code>
one on one engine; <code>npm run report</code> then makes this page anew.</p>
<nav aria-label="Benches"><div class="scroll"><table>
<thead><tr><th scope="col">bench</th><th scope="col">on</th><th scope="col">verdict</th></tr></thead>
<tbody>${benches.flatMap(([name, found]) =>
    found.map(
      (section) => html`
<tr><th scope="row"><a href="#bench-${name}">${name}</a></th><td>${subjectOf(section)}</td>${total(section)}</tr>`,
    ),
  )}
</tbody>
</table></div></nav>
</header>
<main>
${await Promise.all(benches.map(([name, found]) => benchSection(name, found)))}
</main>
</body>
</html>
`.markup;
}

/** One bench: what it found on one engine next to what it found on the others. */
async function benchSection(name: string, found: readonly Section[]): Promise<Markup> {
  const what = [...new Set(found.map((section) => section.what))];
  return html`
<section id="bench-${name}" aria-labelledby="bench-${name}-name">
<h2 id="bench-${name}-name">${name}</h2>
${what.map((text) => html`<p>${text}</p>`)}
<div class="engines">${await Promise.all(found.map(onEngine))}</div>
</section>`;
}

async function onEngine(section: Section): Promise<Markup> {
  const { measured, plots = [], run, seconds } = section;
  return html`
<article>
<h3>${subjectOf(section)}</h3>
<p class="run"><time datetime="${run.started_at}">${run.started_at.slice(0, 16).replace('T', ' ')} UTC</time>,
${Math.round(seconds)} s, ${run.cpu.model}, ${run.cpu.count === 1 ? 'one processor' : `${run.cpu.count} processors`}, Node ${run.node}<br>
<code>${commandOf(section, engineKind(section), run.seed)}</code></p>
<div class="plots">${await Promise.all(plots.map(figureOf))}</div>
<div class="scroll"><table>
<thead><tr><th scope="col">what</th><th scope="col">figure</th><th scope="col">bar</th><th scope="col">verdict</th></tr></thead>
<tbody>${measured.map(
    ({ what, figure, bar, passed }) => html`
<tr><th scope="row">${what}</th><td>${figure}</td><td>${bar}</td>${verdict(passed, passed ? 'PASS' : 'FAIL')}</tr>`,
  )}
</tbody>
</table></div>
</article>`;
}

async function figureOf(plot: Plot): Promise<Markup> {
  const nothing = (plot.kind === 'bars' ? plot.bars : plot.lines.flatMap(({ points }) => points)).length === 0;
  const drawn = nothing
    ? html`<p>nothing was measured</p>`
    : html`<div class="scroll">${{ markup: await svgOf(plot) }}</div>`;
  return html`
<figure>
<figcaption>${plot.title}</figcaption>
${drawn}
</figure>`;
}

/** What a bench ran on, as its rows say: "MariaDB 10.11.6", or "Node 24.21.0" where there was no engine. */
function subjectOf(section: Section): string {
  return (engineKind(section) === undefined ? section.measured[0]?.engine : undefined) ?? section.run.engine;
}

/** How many rows passed: "17 of 18 passed". */
function total({ measured }: Section): Markup {
  const passed = measured.filter((row) => row.passed).length;
  return verdict(passed === measured.length, `${passed} of ${measured.length} passed`);
}

function verdict(passed: boolean, said: string): Markup {
  return html`<td class="${passed ? 'passed' : 'failed'}">${said}</td>`;
}
