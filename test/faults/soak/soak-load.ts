/** A separate process that writes, reads, queries and follows until it is asked to end. */
import type { Written } from '../load/ledger.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';
import { mixedLoad, type MixedCounts, type MixedLoadOptions } from './mixed-load.ts';

export interface SoakProgress {
  readonly counts: MixedCounts;
  readonly wrongExamples: readonly string[];
  /** Sent only in the end. */
  readonly written?: Written;
}

const REPORT_MS = 1000;

await runAsProcess<MixedLoadOptions, SoakProgress>(async (options, control) => {
  const load = mixedLoad(options);
  const { counts, wrongExamples } = load;
  control.ready();
  const reporting = setInterval(() => void control.say({ counts, wrongExamples }), REPORT_MS);
  await load.work(control.signal);
  clearInterval(reporting);
  await control.say({ counts, wrongExamples, written: load.ledger.written() });
});
