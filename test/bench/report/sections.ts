import type { Section } from './findings.ts';

/** As `--engine` names it: "mariadb". */
export function engineKind({ run }: Section): string {
  return (run.engine.split(' ')[0] ?? '').toLowerCase();
}

/** False where every row was measured on Node alone: then the engine of the run says nothing about it. */
export function isBound({ measured }: Section): boolean {
  return measured.length === 0 || measured.some(({ engine }) => !engine.startsWith('Node '));
}

/** What was found before, but for what was found anew: the same bench on the same engine, or without any. */
export function withNew(before: readonly Section[], found: readonly Section[], order: readonly string[]): readonly Section[] {
  const isAnew = (old: Section): boolean => found.some((section) => section.name === old.name && (engineKind(section) === engineKind(old) || !isBound(section) || !isBound(old)));
  const place = ({ name }: Section): number => (order.includes(name) ? order.indexOf(name) : order.length);
  // What this run does not know is kept too, at the end. MySQL comes before MariaDB, as it is the one in the cloud.
  return [...before.filter((old) => !isAnew(old)), ...found].toSorted((one, other) => place(one) - place(other) || engineKind(other).localeCompare(engineKind(one)));
}
