import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RunReport, Section } from './findings.ts';
import { page } from './page.ts';
import { carriedBy } from './page-data.ts';
import { withNew } from './sections.ts';

/** Throws an Error unless the file can be written. Leaves it as it is: one that is not there is not there afterwards either. */
export function checkWritable(file: string): void {
  const wasThere = existsSync(file);
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    throw new Error(`Wanted a file that can be written, got ${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (!wasThere) rmSync(file);
}

/** What the page of an earlier run carries; nothing when there is none. Throws an Error that names the file and what can be done about it. */
export function sectionsIn(file: string): readonly Section[] {
  if (!existsSync(file)) return [];
  try {
    return carriedBy(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} cannot be rewritten: ${error instanceof Error ? error.message : String(error)}. Delete it, or name another file with --report.`, { cause: error });
  }
}

/**
 * Writes the page: what is in it already, with the run's findings in place of its benches' former ones on its engine.
 *
 * @param order names of all benches, as the page shows them
 */
export function rewritePage(file: string, { format: _format, seconds: _seconds, complete: _complete, benches, ...run }: RunReport, order: readonly string[]): void {
  writeFileSync(file, page(withNew(sectionsIn(file), benches.map((bench): Section => ({ ...bench, run })), order)));
}
