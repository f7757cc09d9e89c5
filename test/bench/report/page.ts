import { benchSection, machineOf, minuteOf, subjectOf, verdictOf } from './bench-section.ts';
import type { Section } from './findings.ts';
import { html, type Markup } from './markup.ts';
import { embedded } from './page-data.ts';
import { PAGE_STYLE } from './page-style.ts';

/** The whole page: it needs neither a script nor anything from elsewhere. */
export function page(sections: readonly Section[]): string {
  const benches = Map.groupBy(sections, ({ name }) => name);
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Schemaless: what was measured</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>Schemaless: what was measured</h1>
${introduction(sections)}
${overview(benches)}
</header>
<main>
${[...benches].map(([name, found]) => benchSection(name, found))}
</main>
${embedded(sections)}
</body>
</html>
`.text;
}

function introduction(sections: readonly Section[]): Markup {
  const machines = [...new Set(sections.map(machineOf))];
  const times = sections.map(({ run }) => run.started_at).sort();
  const [first, last] = [times[0], times.at(-1)].map((time) => (time === undefined ? '-' : minuteOf(time)));
  return html`<p>Each figure is of one run on one machine, on which the servers, the store and whatever measures them share the processors.
What is next to something else was measured in turn with it: such ratios say more than figures by themselves, which another machine, or another day, would change.</p>
<dl>
<dt>machine</dt><dd>${machines.length === 1 ? machines[0] : html`${machines.map((machine) => html`${machine}<br>`)}`}</dd>
<dt>when</dt><dd>${first === last ? first : `${first} to ${last}`}</dd>
<dt>again</dt><dd><code>npm run bench</code> measures all that takes minutes together, <code>npm run bench -- NAME --engine mariadb</code> one on one engine.
Either writes its own sections of this page anew and leaves the others.</dd>
</dl>`;
}

/** Every bench with its verdicts, as a way to its section. */
function overview(benches: ReadonlyMap<string, readonly Section[]>): Markup {
  const rows = [...benches].flatMap(([name, found]) => found.map((section) => html`
<tr><th scope="row"><a href="#bench-${name}">${name}</a></th><td>${subjectOf(section)}</td>${verdictOf(section)}</tr>`));
  return html`<nav aria-label="Benches"><div class="scroll"><table>
<thead><tr><th scope="col">bench</th><th scope="col">on</th><th scope="col">verdict</th></tr></thead>
<tbody>${rows}
</tbody>
</table></div></nav>`;
}
