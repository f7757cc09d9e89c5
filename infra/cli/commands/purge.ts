import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { Purge, RetentionOperations } from '../../../shared/contract/retention-operations.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { action, examples } from '../cli.ts';
import type { Ending } from '../exit-codes.ts';
import { untilInterrupted } from '../files/interrupt.ts';
import { wholeNumberFlag } from '../flags.ts';
import type { Session } from '../session.ts';

/** Between two looks at one that goes on: at first, and at most, as each has the state table read from end to end. */
const LOOK_MS = 1000;
const LONGEST_LOOK_MS = 10_000;

export function purge(): Command {
  return new Command('purge')
    .description('gives back the space of what was erased: every table is written anew, while it is read and written')
    .addOption(wholeNumberFlag('--wait <seconds>', 'until it is done', 0, 86_400).default(3600))
    .addHelpText(
      'after',
      `${examples(
        ['schemaless purge', 'and waits for it'],
        ['schemaless purge --wait 0', 'has it begun, within a quarter of a minute'],
      )}

Prints what the tables took before and after, and in logs_left groups whose servers' own logs could not be written
over: those of Aurora never can. Ends with 5 where it is not done after --wait: it goes on by itself, and
\`schemaless retention\` tells how far it is. Each group needs room for one more copy of its largest table.`,
    )
    .action(action<[], { readonly wait: number }>(async (session, _none, flags) => purgeAndWait(session, flags.wait)));
}

async function purgeAndWait(session: Session, seconds: number): Promise<Ending> {
  const interrupt = untilInterrupted();
  try {
    const operations = await session.retention({ signal: interrupt.afterwards });
    const seen = await untilPurged(operations, await operations.purge(), seconds, interrupt.signal);
    await session.output.record(seen);
    if (seen.state === 'purged') return 'ok';
    session.note(`it goes on by itself: ${seen.waits_for ?? `${seen.tables} of ${seen.of} tables are done`}`);
    return interrupt.signal.aborted ? 'interrupted' : 'unavailable';
  } finally {
    interrupt.end();
  }
}

/** What was last seen of it. */
async function untilPurged(
  operations: RetentionOperations,
  asked: Purge,
  seconds: number,
  signal: AbortSignal,
): Promise<Purge> {
  const end = performance.now() + seconds * 1000;
  let seen = asked;
  for (let lookMs = LOOK_MS; seen.state === 'purging' && performance.now() < end && !signal.aborted;) {
    await wait(Math.min(lookMs, end - performance.now()), undefined, { signal }).catch(() => undefined);
    lookMs = Math.min(LONGEST_LOOK_MS, lookMs * 1.5);
    try {
      seen = (await operations.retention()).purge ?? seen;
    } catch (error) {
      // It is recorded all the same.
      if (!(error instanceof SchemalessError) || error.retry === 'never') throw error;
    }
  }
  return seen;
}
