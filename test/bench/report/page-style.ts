import { Markup } from './markup.ts';

/** Of the whole page: it refers to nothing outside of itself. */
export const PAGE_STYLE = new Markup(`
:root {
  color-scheme: light dark;
  --back: #ffffff; --text: #1b1f24; --muted: #57606a; --edge: #d0d7de; --soft: #f3f5f7;
  --passed: #1a7f37; --failed: #c01622; --plain: #0a5fc0; --wanted: #8a5a00; --bar-opacity: 0.55;
  --line-0: #0a5fc0; --line-1: #b34700; --line-2: #1a7f37; --line-3: #7a45d6; --line-4: #b0307f; --line-5: #57606a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0d1117; --text: #e6edf3; --muted: #9aa4af; --edge: #3d444d; --soft: #161b22;
    --passed: #3fb950; --failed: #ff7b72; --plain: #58a6ff; --wanted: #e3b341; --bar-opacity: 0.5;
    --line-0: #58a6ff; --line-1: #f0883e; --line-2: #3fb950; --line-3: #bc8cff; --line-4: #f778ba; --line-5: #b1bac4;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
header, main { max-width: 84rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { margin: 0.5rem 0; line-height: 1.2; }
h2 { margin: 2.5rem 0 0; border-top: 1px solid var(--edge); padding-top: 1rem; }
h3 { margin: 1rem 0 0.5rem; }
p { margin: 0.5rem 0; max-width: 50rem; }
h2 + p::first-letter { text-transform: uppercase; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; margin: 1rem 0; }
dt { color: var(--muted); }
dd { margin: 0; min-width: 0; }
a { color: var(--plain); }
code { font: 0.875em ui-monospace, "DejaVu Sans Mono", monospace; background: var(--soft); padding: 0.1em 0.3em; border-radius: 3px; }
.run, .unit { color: var(--muted); font-size: 0.875rem; font-weight: normal; }
.engines { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 2.5rem; }
.engines > article { min-width: 0; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1.5rem 2.5rem; margin-bottom: 1.5rem; }
figure { margin: 0; min-width: 0; max-width: 44rem; }
figcaption { font-weight: 600; margin-bottom: 0.5rem; }
.scroll { overflow-x: auto; }
.scroll > svg { display: block; min-width: 20rem; }
.key { list-style: none; display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin: 0.25rem 0 0; padding: 0; font-size: 0.8125rem; color: var(--muted); }
.key li { display: flex; align-items: center; gap: 0.4rem; }
.sign { flex: none; display: inline-block; width: 1.25rem; }
.sign.passed, .sign.failed { height: 0.7rem; opacity: var(--bar-opacity); }
.sign.passed { background: var(--passed); }
.sign.failed { background: var(--failed); }
.sign.whisker { border-top: 1.5px solid var(--text); }
.sign.wanted { width: 0; height: 1rem; border-left: 3px solid var(--wanted); }
.sign.line { border-top: 2.5px solid; }
svg text { font: 12px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: var(--text); stroke: var(--back); stroke-width: 3px; paint-order: stroke; }
svg text.tick { font-size: 11px; fill: var(--muted); }
svg text.value { font-weight: 600; }
svg text.value.failed { fill: var(--failed); }
svg .grid { stroke: var(--edge); stroke-width: 1; }
svg rect { fill: var(--plain); opacity: var(--bar-opacity); }
svg rect.passed { fill: var(--passed); }
svg rect.failed { fill: var(--failed); }
svg .whisker { stroke: var(--text); stroke-width: 1.5; }
svg .wanted { stroke: var(--wanted); stroke-width: 3; }
svg polyline { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
${[
  ['0', 'none', 'solid'],
  ['1', '6 3', 'dashed'],
  ['2', '2 3', 'dotted'],
  ['3', '10 3', 'dashed'],
  ['4', '8 3 2 3', 'dashed'],
  ['5', '3 3', 'dotted'],
].map(([place, dashes, border]) => `polyline.line-${place} { stroke: var(--line-${place}); stroke-dasharray: ${dashes}; } circle.line-${place} { fill: var(--line-${place}); } .sign.line-${place} { border-color: var(--line-${place}); border-top-style: ${border}; }`).join('\n')}
table { border-collapse: collapse; font-size: 0.875rem; }
article table { width: 100%; }
nav { margin-top: 1.5rem; }
caption { text-align: left; color: var(--muted); padding-bottom: 0.25rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.75rem 0.3rem 0; border-bottom: 1px solid var(--edge); font-weight: normal; min-width: 4rem; overflow-wrap: anywhere; }
article :is(th, td):first-child, article :is(th, td):nth-child(2) { min-width: 9rem; }
td.passed, td.failed { white-space: nowrap; }
nav :is(th, td) { padding-right: 2rem; }
thead th { color: var(--muted); }
td.passed { color: var(--passed); font-weight: 600; }
td.failed { color: var(--failed); font-weight: 600; }
@media (max-width: 34rem) {
  article :is(table, caption, tbody) { display: block; }
  article thead { position: absolute; clip-path: inset(50%); }
  article tr { display: grid; grid-template-columns: 1fr auto; border-bottom: 1px solid var(--edge); padding: 0.3rem 0; }
  article tbody :is(th, td) { border: 0; padding: 0 0 0 0.75rem; min-width: 0; }
  article tbody :is(th, td:nth-child(2)) { grid-column: 1; padding: 0; }
  article tbody td:nth-child(2) { color: var(--muted); }
  article tbody td:nth-child(3) { grid-area: 2 / 2; max-width: 9rem; text-align: right; }
  article tbody td:nth-child(4) { grid-area: 1 / 2; text-align: right; }
}
`);
