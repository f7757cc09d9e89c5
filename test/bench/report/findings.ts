import * as z from 'zod';
import type { Findings, Plot } from '../bench.ts';

/** Counts up when a reader of the older one would misunderstand what is written. */
export const FORMAT = 1;

/** What one bench has found. */
export interface BenchReport extends Findings {
  readonly name: string;
  readonly what: string;
  /** How long it took. */
  readonly seconds: number;
}

/** What all benches of a run have in common. */
export interface Circumstances {
  /** "MariaDB 10.11.6" */
  readonly engine: string;
  readonly seed: string;
  /** "24.21.0" */
  readonly node: string;
  readonly cpu: { readonly model: string; readonly count: number };
  /** ISO 8601, UTC */
  readonly started_at: string;
}

/** A run as `--json` writes it. */
export interface RunReport extends Circumstances {
  readonly format: typeof FORMAT;
  /** Since it began. */
  readonly seconds: number;
  /** False while benches are still to come, and for good in a run that was stopped. */
  readonly complete: boolean;
  readonly benches: readonly BenchReport[];
}

/** What one bench found on one engine: a page keeps one of each. */
export interface Section extends BenchReport {
  readonly run: Circumstances;
}

const barPlot = z.object({
  kind: z.literal('bars'),
  title: z.string(),
  unit: z.string(),
  bars: z.array(
    z.object({
      label: z.string(),
      value: z.number(),
      least: z.number().exactOptional(),
      most: z.number().exactOptional(),
      bar: z.number().exactOptional(),
      passed: z.boolean().exactOptional(),
    }),
  ),
});

const linePlot = z.object({
  kind: z.literal('lines'),
  title: z.string(),
  x: z.string(),
  y: z.string(),
  logX: z.boolean().exactOptional(),
  lines: z.array(z.object({ name: z.string(), points: z.array(z.tuple([z.number(), z.number()])) })),
});

/** What a page carries, read back. */
export const pageDataSchema: z.ZodType<{ readonly format: typeof FORMAT; readonly sections: readonly Section[] }> = z.object({
  format: z.literal(FORMAT),
  sections: z.array(
    z.object({
      name: z.string(),
      what: z.string(),
      seconds: z.number(),
      measured: z.array(z.object({ what: z.string(), figure: z.string(), bar: z.string(), passed: z.boolean(), engine: z.string() })),
      plots: z.array(z.discriminatedUnion('kind', [barPlot, linePlot]) satisfies z.ZodType<Plot>).exactOptional(),
      run: z.object({
        engine: z.string(),
        seed: z.string(),
        node: z.string(),
        cpu: z.object({ model: z.string(), count: z.number() }),
        started_at: z.iso.datetime(),
      }),
    }),
  ),
});
