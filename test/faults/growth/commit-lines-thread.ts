/** A thread of forwarders, one to each group's writer, until it is ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runAsWorker } from '../../support/workers/worker-side.ts';
import { CommitLine, type WriterAddress } from './commit-line.ts';

export interface CommitLinesInput {
  readonly writers: readonly WriterAddress[];
  /** The duration of each commit of a group. */
  readonly eachMs: number;
}

export interface CommitLinesProgress {
  /** In the order of the writers. */
  readonly addresses: readonly WriterAddress[];
  readonly commits: readonly number[];
}

const SAY_MS = 100;

await runAsWorker<CommitLinesInput, 'stop', CommitLinesProgress, null>(async ({ writers, eachMs }, control) => {
  const lines = await Promise.all(writers.map((writer) => CommitLine.open(writer, eachMs)));
  const addresses = lines.map(({ address }) => address);
  const say = (): void => control.say({ addresses, commits: lines.map(({ commits }) => commits) });
  say();
  control.ready();
  while (control.stopped === undefined) {
    await sleep(SAY_MS);
    say();
  }
  for (const line of lines) line.close();
  return null;
});
