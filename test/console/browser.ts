import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { findBrowser } from '../../infra/setup/browser.mjs';

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('wanted Chromium or CHROMIUM: apt-get install chromium');
  // As root its sandbox does not start. Memory is to be read exactly, and collected when a test says so.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const args = [...sandbox, '--enable-precise-memory-info', '--js-flags=--expose-gc'];
  return chromium.launch({ executablePath, args });
}

export interface Polling {
  readonly page: Page;
  /** Errors of scripts, violations of a policy, and requests that left the origin. */
  readonly troubles: string[];
  readonly at: (address: string) => Promise<void>;
  /** Milliseconds of the tasks that held the page up for longer than 50 since the last call. */
  readonly longTasks: () => Promise<readonly number[]>;
}

interface Observed {
  longTasks?: number[];
}

async function poll(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Polling> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    // The browser says of each answer above 399 that it was one.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) troubles.push(`console: ${text}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) troubles.push(`left the origin: ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    troubles.push(`a script opened a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript(() => {
    const observed = globalThis as unknown as Observed;
    observed.longTasks = [];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) observed.longTasks?.push(duration);
    }).observe({ type: 'longtask', buffered: true });
  });
  return {
    page,
    troubles,
    at: async (address) => {
      await page.goto(`${origin}/console#${address}`);
      await page.waitForSelector('main h1');
    },
    longTasks: () =>
      page.evaluate(() => {
        const observed = globalThis as unknown as Observed;
        const tasks = observed.longTasks ?? [];
        observed.longTasks = [];
        return tasks;
      }),
  };
}

/** Opens one browser for a file, and a new page for each test. Any error on a page fails the test. */
export function browserTests(origin: () => string): (options?: BrowserContextOptions) => Promise<Polling> {
  let browser: Browser | undefined;
  const opened: Polling[] = [];
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => browser?.close());
  afterEach(async () => {
    const all = opened.splice(0);
    for (const { page } of all) await page.context().close();
    expect(all.flatMap(({ troubles }) => troubles)).toEqual([]);
  });
  return async (options) => {
    if (!browser) throw new Error('the browser is not there before the tests begin');
    const one = await poll(browser, origin(), options);
    opened.push(one);
    return one;
  };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

export async function axeFindings({ page }: Polling): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run: () => Promise<AxeResult> } }).axe.run(),
  );
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html.slice(0, 160)}`));
}

/**
 * Returns tables that have to be scrolled sideways, and buttons in tables that are cut off. Leaves out the table of a
 * query, which has as many columns as its index has fields.
 */
export function tooWide({ page }: Polling): Promise<readonly string[]> {
  return page.evaluate(() => {
    const tables = [...document.querySelectorAll('main .table:not([aria-label="Rows found"])')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map((table) => `${table.getAttribute('aria-label')}: ${table.scrollWidth} of ${table.clientWidth} px`);
    /** The right edge of a cell without its padding, where its contents are cut off. */
    const endOf = (element: Element | null): number =>
      element === null
        ? 0
        : element.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(element).paddingRight);
    const buttons = [...document.querySelectorAll('main td button')]
      .filter((button) => button.getBoundingClientRect().right > endOf(button.closest('td')) + 1)
      .map((button) => `${button.textContent} is cut off`);
    return [...tables, ...buttons];
  });
}
