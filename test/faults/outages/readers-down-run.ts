import { check, grouped, noneOf, sumOf, type Check, type FaultRun, type Share } from '../fault-run.ts';
import { aftermathNotes, otherFaults } from '../aftermath.ts';
import type { Answer } from '../load/ask.ts';
import { begunIn, latencyLine, percentile, type Phase } from '../load/latency.ts';
import { countEarly } from './early-deletes.ts';
import type { ReaderRead } from './reader-reads.ts';
import { DOWN_SECONDS, readersStory, type ReadersStory } from './without-readers.ts';

const MOST_SLOWER = 1.2;
const LEAST_READS = 100;
/** While the readers are down. */
const LEAST_STORED = 100;
const MOST_EMPTY_SECONDS = 60;

export const readersDownRun: FaultRun = {
  name: 'readers-down',
  promise:
    'Without readers a group takes writes as before, its writer answers reads, and buffered writes wait for the readers',
  fault: `all readers of a group down for ${DOWN_SECONDS} s, in turn with normal times, under a steady load`,
  control: 'writes that need a reader; reads of readers only; a drain that asks the writer only',
  alone: true,

  async run(world) {
    const story = await readersStory(world);
    const { aftermath, writes, shards, normal, down } = story;
    return {
      checks: [writesCheck(story), readsCheck(story), earlyCheck(story), emptyCheck(story)],
      cells: aftermath.acked,
      engine: story.engine,
      notes: [
        `writes in normal times: ${latencyLine(inPhases(writes, normal))}; to the group: ${latencyLine(inPhases(writes, normal, shards))}`,
        `… without readers: ${latencyLine(inPhases(writes, down))}; to the group: ${latencyLine(inPhases(writes, down, shards))}`,
        ...aftermathNotes(aftermath),
      ],
    };
  },
};

function writesCheck({ writes, normal, down, readerBound }: ReadersStory): Check {
  const meanwhile = inPhases(writes, down);
  const stored = meanwhile.filter(({ outcome }) => outcome === 'stored').length;
  const slower = percentile(meanwhile, 0.99) / percentile(inPhases(writes, normal), 0.99);
  const tried = sumOf(Object.values(readerBound));
  return {
    what: 'writes stored without readers, their p99 in normal ones; control: writes that need a reader',
    figure: `${grouped(stored)} of ${grouped(meanwhile.length)}, ${slower.toFixed(2)}`,
    bar: `all, <= ${MOST_SLOWER}`,
    passed: stored > 0 && stored === meanwhile.length && slower <= MOST_SLOWER,
    control: { figure: `${readerBound.stored} of ${tried}`, failed: readerBound.stored < tried },
  };
}

function readsCheck({ reads, readerOnlyReads, down }: ReadersStory): Check {
  const answered = (all: readonly ReaderRead[], isMeant: (read: ReaderRead) => boolean): Share => {
    const asked = all.filter(({ sentAt }) => down.some(({ from, to }) => sentAt >= from && sentAt < to));
    return { wrong: asked.filter((read) => !isMeant(read)).length, of: asked.length };
  };
  return check(
    {
      what: 'reads asked of a reader, answered by the writer; control: reads of readers only',
      bar: `all of at least ${LEAST_READS}`,
      figure: ({ wrong, of }) => `${grouped(of - wrong)} of ${grouped(of)}`,
      holds: ({ wrong, of }) => of >= LEAST_READS && wrong === 0,
      fails: ({ wrong }) => wrong > 0,
    },
    answered(reads, ({ servedBy, isRight }) => servedBy === 'writer' && isRight),
    answered(readerOnlyReads, ({ isRight }) => isRight),
  );
}

function earlyCheck({ writes, shards, down, control }: ReadersStory): Check {
  const parts = down.map((phase) => countEarly(writes, shards, phase.from, phase.snapshot));
  const early: Share = { wrong: sumOf(parts.map(({ wrong }) => wrong)), of: sumOf(parts.map(({ of }) => of)) };
  return noneOf(
    'buffered rows deleted while no reader showed them; control: a drain that asks the writer only',
    LEAST_STORED,
    early,
    countEarly(writes, shards, control.from, control.snapshot),
  );
}

/** The control is the same question with the readers still down. */
function emptyCheck({ down, aftermath }: ReadersStory): Check {
  const slowest = Math.max(...down.map(({ emptySeconds }) => emptySeconds));
  const waited = Math.min(...down.map(({ snapshot }) => snapshot.rowKeys.size));
  return {
    what: 'seconds until they are drained; cells lost, other faults; control: the readers still down',
    figure: `${slowest.toFixed(1)}; ${aftermath.lost}, ${otherFaults(aftermath)}`,
    bar: `< ${MOST_EMPTY_SECONDS}; 0, 0`,
    passed: slowest < MOST_EMPTY_SECONDS && aftermath.lost + otherFaults(aftermath) === 0,
    control: { figure: `${grouped(waited)} rows left`, failed: waited > 0 },
  };
}

function inPhases(
  writes: readonly Answer[],
  phases: readonly Phase[],
  shards?: ReadonlySet<number>,
): readonly Answer[] {
  return phases.flatMap((phase) => begunIn(writes, phase, shards));
}
