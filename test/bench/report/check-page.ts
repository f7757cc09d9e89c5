/**
 * `node test/bench/report/check-page.ts FILE`: opens a page of plots in Chromium, wide and narrow, light and dark, and prints what
 * is wrong: errors on the console, requests to anywhere, texts and plots that cannot be seen. Exit code 1 if there is any.
 */
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { openTab, type Tab } from './chromium.ts';
import { layoutProblems } from './layout-problems.ts';

/** Pixels: a wide screen, half of one, a telephone, and the narrowest there is. */
const WIDTHS = [1600, 800, 360, 320];
const SCHEMES = ['light', 'dark'];

const [file] = process.argv.slice(2);
if (file === undefined || !existsSync(file)) {
  console.error(`wanted a page to check, got ${file ?? 'none'}: node test/bench/report/check-page.ts FILE`);
  process.exit(2);
}
const url = pathToFileURL(file).href;
const problems = new Set<string>();
try {
  await using tab = await openTab();
  await listen(tab);
  for (const width of WIDTHS) for (const scheme of SCHEMES) await look(tab, width, scheme);
} catch (error) {
  problems.add(error instanceof Error ? error.message : String(error));
}
for (const problem of problems) console.log(problem);
console.log(problems.size === 0 ? `${file}: nothing is wrong` : `${file}, problems: ${problems.size}`);
process.exit(problems.size === 0 ? 0 : 1);

async function listen(tab: Tab): Promise<void> {
  tab.on('Runtime.consoleAPICalled', ({ type, args }) => void problems.add(`console.${String(type)}: ${JSON.stringify(args)}`));
  tab.on('Runtime.exceptionThrown', ({ exceptionDetails }) => void problems.add(`exception: ${String(Object(Object(exceptionDetails).exception).description)}`));
  tab.on('Log.entryAdded', ({ entry }) => void problems.add(`log: ${String(Object(entry).text)}`));
  tab.on('Network.requestWillBeSent', ({ request }) => {
    const asked = String(Object(request).url);
    if (asked !== url) problems.add(`it asks for ${asked}`);
  });
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await tab.call(`${domain}.enable`);
}

async function look(tab: Tab, width: number, scheme: string): Promise<void> {
  await tab.call('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false });
  await tab.call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  const loaded = new Promise<void>((resolve) => tab.on('Page.loadEventFired', () => resolve()));
  const { errorText } = await tab.call('Page.navigate', { url });
  if (errorText !== undefined) throw new Error(`${url} cannot be opened: ${String(errorText)}`);
  await loaded;
  const { result } = await tab.call('Runtime.evaluate', { expression: `(${layoutProblems.toString()})()`, returnByValue: true });
  const found: unknown = Object(result).value;
  if (!Array.isArray(found)) throw new Error(`the page could not be looked at: ${JSON.stringify(result)}`);
  for (const problem of found) problems.add(`${width} pixels, ${scheme}: ${String(problem)}`);
}
