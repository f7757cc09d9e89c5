import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { Random } from '../../support/random.ts';
import type { Mix } from '../load/cell-source.ts';
import { asker, askUntilTold, openHistory, type Answer } from '../load/ask.ts';
import { writtenOf, type Written } from '../load/ledger.ts';
import { RestartedProcess } from '../indexes/restarted-process.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import type { InstanceInput } from './instance-process.ts';
import { readJournal } from './journal.ts';
import type { RunWorld } from '../fault-run.ts';

/** The folder is for the processes and their journals. */
export interface Killing extends Pick<RunWorld, 'folder' | 'seed' | 'history' | 'signal'> {
  readonly access: StoreAccess;
  /** Through which whoever is left asks again. */
  readonly datastore: Pick<Datastore, 'put' | 'batchPut'>;
  readonly mix: Mix;
}

/** A cell whose writer died before it was told anything. */
export interface InDoubt {
  readonly cell: NewCell;
  /** Milliseconds since 1970. */
  readonly diedAt: number;
}

export interface Killed {
  readonly kills: number;
  readonly inDoubt: readonly InDoubt[];
  /** To the processes, and to whoever asked again after them. */
  readonly answers: readonly Answer[];
  readonly written: Written;
}

const INSTANCES = 2;
const KILLS_EACH = 8;
const WRITERS = 8;
const LIFE_MS = [150, 600] as const;
const PATIENCE = { leastMs: 20, mostMs: 500, wholeMs: 60_000 };

/**
 * Kills processes in the middle of writes; whatever they were about to write is asked for again at once, until it is
 * told.
 */
export async function killInstances(killing: Killing): Promise<Killed> {
  const parts = await Promise.all(Array.from({ length: INSTANCES }, (_, instance) => killOne(killing, instance)));
  const heirs = parts.flatMap((part) => part.heirs);
  return {
    kills: INSTANCES * KILLS_EACH,
    inDoubt: parts.flatMap(({ inDoubt }) => inDoubt),
    answers: parts.flatMap(({ answers }) => answers),
    written: writtenOf(heirs, true),
  };
}

async function killOne(
  { folder, access, datastore, seed, mix, history: file, signal }: Killing,
  instance: number,
): Promise<Pick<Killed, 'inDoubt' | 'answers'> & { readonly heirs: readonly Answer[] }> {
  const random = new Random(seed, 'instance', instance);
  const journalOf = (life: number): string => join(folder, `journal-${instance}-${life}`);
  using history = openHistory(file, 'acks/killed');
  const module = new URL('instance-process.ts', import.meta.url);
  using process = new RestartedProcess<InstanceInput, undefined>(module, folder, (life) => {
    const ownInput = { journal: journalOf(life), seed: `${seed} ${instance} ${life}` };
    return { access, mix, writers: WRITERS, ...ownInput };
  });
  const ask = asker({ writer: datastore, name: `heir-${instance}`, history });
  const [inDoubt, answers, heirs]: [InDoubt[], Answer[], Answer[]] = [[], [], []];
  const repeats: Promise<void>[] = [];
  await process.ready;
  for (let life = 0; life < KILLS_EACH; life += 1) {
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

  async function askAgain(cells: readonly NewCell[]): Promise<void> {
    const first = await ask(cells);
    heirs.push(...first, ...(await askUntilTold(ask, cells, first, random, PATIENCE)));
  }
}
