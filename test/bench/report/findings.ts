import * as z from 'zod';
import type { Findings, Plot } from '../bench.ts';

/** Counts up when a reader of the older one would misunderstand what is written. */
export const FORMAT = 1;

const [text, number, flag] = [z.string(), z.number(), z.boolean()];
const limit = number.exactOptional();
const bar = z.object({
  label: text,
  value: number,
  least: limit,
  most: limit,
  bar: limit,
  passed: flag.exactOptional(),
});
const line = z.object({ name: text, points: z.array(z.tuple([number, number])) });
const plot: z.ZodType<Plot> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('bars'), title: text, unit: text, bars: z.array(bar) }),
  z.object({
    kind: z.literal('lines'),
    title: text,
    x: text,
    y: text,
    logX: flag.exactOptional(),
    logY: flag.exactOptional(),
    lines: z.array(line),
  }),
]);
const row = z.object({ what: text, figure: text, bar: text, passed: flag, engine: text });
const run = z.object({
  /** "MariaDB 10.11.6" */
  engine: text,
  seed: text,
  /** "24.21.0" */
  node: text,
  cpu: z.object({ model: text, count: number }),
  /** UTC */
  started_at: z.iso.datetime(),
});
const bench = z.object({
  name: text,
  what: text,
  /** How long it took. */
  seconds: number,
  /** What it was asked for besides, as it was typed: "--records 1000". */
  settings: text.exactOptional(),
  measured: z.array(row).readonly(),
  plots: z.array(plot).readonly().exactOptional(),
}) satisfies z.ZodType<Findings>;
const section = bench.extend({ run });

/** What one bench has found. */
export type BenchReport = z.infer<typeof bench>;
/** What all benches of a run have in common. */
export type Circumstances = z.infer<typeof run>;
/** What one bench found on one engine: the kept findings have one of each. */
export type Section = z.infer<typeof section>;

/** A run as `--json` writes it. */
export interface RunReport extends Circumstances {
  readonly format: typeof FORMAT;
  /** Since it began. */
  readonly seconds: number;
  /** False while benches are still to come, and for good in a run that was stopped. */
  readonly complete: boolean;
  readonly benches: readonly BenchReport[];
}

/** What measures a row again. @param engine as `engineKind` says */
export function commandOf({ name, settings }: BenchReport, engine: string | undefined, seed: string): string {
  const flags = [engine === undefined ? '' : ` --engine ${engine}`, settings === undefined ? '' : ` ${settings}`];
  return `npm run bench -- ${name}${flags.join('')} --seed ${seed}`;
}

/** The kept findings, read back. */
export const findingsSchema = z.object({ format: z.literal(FORMAT), sections: z.array(section) });

/**
 * As `--engine` names it: "mariadb". Undefined where all was measured on Node alone, whatever engine the run was given.
 */
export function engineKind({ measured, run: { engine } }: Section): string | undefined {
  const isBound = measured.length === 0 || measured.some((row) => !row.engine.startsWith('Node '));
  return isBound ? engine.split(' ')[0]?.toLowerCase() : undefined;
}
