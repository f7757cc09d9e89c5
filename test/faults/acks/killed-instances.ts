import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { Random } from '../../support/random.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { until } from '../../support/until.ts';
import type { RunWorld } from '../fault-run.ts';
import { NotedLines } from '../line-log.ts';
import { RestartedProcess } from '../indexes/restarted-process.ts';
import { asker, askUntilTold, type Answer } from '../load/ask.ts';
import type { Mix } from '../load/cell-source.ts';
import { writtenOf, type Written } from '../load/ledger.ts';

interface Killing extends Pick<RunWorld, 'folder' | 'seed' | 'signal'> {
  readonly access: StoreAccess;
  readonly datastore: Pick<Datastore, 'put' | 'batchPut'>;
  readonly mix: Mix;
}

export interface InstanceInput {
  readonly access: StoreAccess;
  readonly journal: string;
  readonly writers: number;
  readonly seed: string;
  readonly mix: Mix;
}

export interface Killed {
  readonly kills: number;
  /** Cells whose writer died before any answer, and when, in milliseconds since 1970. */
  readonly inDoubt: readonly { readonly cell: NewCell; readonly diedAt: number }[];
  readonly answers: readonly Answer[];
  readonly written: Written;
}

const INSTANCES = 2;
const KILLS_EACH = 8;
const WRITERS = 8;
const LIFE_MS = [150, 600] as const;
const PATIENCE = { leastMs: 20, mostMs: 500, wholeMs: 60_000 };

/** Kills processes in the middle of writes. Their cells are sent again at once, until the truth is known. */
export async function killInstances(killing: Killing): Promise<Killed> {
  const parts = await Promise.all(Array.from({ length: INSTANCES }, (_, instance) => killOne(killing, instance)));
  return {
    kills: INSTANCES * KILLS_EACH,
    inDoubt: parts.flatMap(({ inDoubt }) => inDoubt),
    answers: parts.flatMap(({ answers }) => answers),
    written: writtenOf(
      parts.flatMap(({ heirs }) => heirs),
      true,
    ),
  };
}

async function killOne({ folder, access, datastore, seed, mix, signal }: Killing, instance: number) {
  const random = new Random(seed, 'instance', instance);
  const journalOf = (life: number): string => join(folder, `journal-${instance}-${life}`);
  const module = new URL('instance-process.ts', import.meta.url);
  using process = new RestartedProcess<InstanceInput, undefined>(module, folder, (life) => {
    const ownInput = { journal: journalOf(life), seed: `${seed} ${instance} ${life}` };
    return { access, mix, writers: WRITERS, ...ownInput };
  });
  const ask = asker({ writer: datastore });
  const [inDoubt, answers, heirs]: [Killed['inDoubt'][number][], Answer[], Answer[]] = [[], [], []];
  const askAgain = async (cells: readonly NewCell[]): Promise<void> => {
    const first = await ask(cells);
    heirs.push(...first, ...(await askUntilTold(ask, cells, first, random, PATIENCE)));
  };
  const repeats: Promise<void>[] = [];
  await process.ready;
  for (let life = 0; life < KILLS_EACH; life += 1) {
    // On a busy machine it takes a while until one has written anything.
    await until('it was answered', () => readJournal(journalOf(life)).answers.length > 0, { signal });
    await sleep(random.between(...LIFE_MS), undefined, { signal });
    await process.kill();
    const diedAt = Date.now();
    const left = readJournal(journalOf(life));
    answers.push(...left.answers);
    for (const cells of left.inDoubt) {
      inDoubt.push(...cells.map((cell) => ({ cell, diedAt })));
      repeats.push(askAgain(cells));
    }
    await process.start();
  }
  await process.stop();
  answers.push(...readJournal(journalOf(KILLS_EACH)).answers);
  await Promise.all(repeats);
  return { inDoubt, answers: [...answers, ...heirs], heirs };
}

/** A call before it is sent, or its answer: it outlives the process, whenever that is killed. */
export interface CallLine {
  readonly call: number;
  readonly cells?: readonly NewCell[];
  readonly answers?: readonly Answer[];
}

/** Returns the answers, and the cells of calls without an answer. */
function readJournal(file: string) {
  using lines = new NotedLines<CallLine>(file);
  const open = new Map<number, readonly NewCell[]>();
  const all: Answer[] = [];
  for (const { call, cells, answers } of lines.read()) {
    if (cells) open.set(call, cells);
    else open.delete(call);
    all.push(...(answers ?? []));
  }
  return { answers: all, inDoubt: [...open.values()] };
}
