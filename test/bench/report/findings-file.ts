import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { engineKind, findingsSchema, type RunReport, type Section } from './findings.ts';

/** What was found on each engine, committed. */
export const FINDINGS_FILE = join(import.meta.dirname, '..', 'findings.json');

/**
 * What earlier runs found; nothing when the file is not there. Throws an Error that says what is wrong with one that is
 * broken or of another format: to write it anew would lose what is in it, which is for whoever reads this to decide.
 */
export function readFindings(file: string): readonly Section[] {
  if (!existsSync(file)) return [];
  try {
    return findingsSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).sections;
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`${file} holds no findings: ${why}. Delete it, or name another file.`, { cause: error });
  }
}

/**
 * Writes a run's findings in place of its benches' former ones on its engine, or on any where none was measured. All
 * other findings stay.
 *
 * @param order names of all benches; what is not among them is kept at the end
 */
export function keepFindings(file: string, run: RunReport, order: readonly string[]): void {
  const { format, benches, engine, seed, node, cpu, started_at } = run;
  const found = benches.map((bench): Section => ({ ...bench, run: { engine, seed, node, cpu, started_at } }));
  const isAnew = (old: Section): boolean =>
    found.some((section) => {
      const [one, other] = [engineKind(section), engineKind(old)];
      return section.name === old.name && (one === other || one === undefined || other === undefined);
    });
  const position = ({ name }: Section): number => (order.includes(name) ? order.indexOf(name) : order.length);
  // MySQL comes before MariaDB, as it is the one in the cloud.
  const sections = [...readFindings(file).filter((old) => !isAnew(old)), ...found].toSorted(
    (one, other) => position(one) - position(other) || other.run.engine.localeCompare(one.run.engine),
  );
  // A line for each section, so that a diff shows which were measured anew.
  writeFileSync(
    file,
    `{"format":${format},"sections":[\n${sections.map((one) => JSON.stringify(one)).join(',\n')}\n]}\n`,
  );
}
