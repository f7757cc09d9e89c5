import { setTimeout as sleep } from 'node:timers/promises';
import { erasuresClient } from '../../../shared/client/erasures-client.ts';
import { subjectsClient } from '../../../shared/client/subjects-client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { grouped, type RunWorld } from '../fault-run.ts';
import type { ForgettingStack } from './forgetting-stack.ts';
import type { Written } from './marked-cells.ts';

export interface Forgetting {
  /** To erasures that were asked for. */
  readonly answers: Readonly<Record<'erased' | 'erasing', number>>;
}

const ERASERS = 16;
const FORGETTERS = 4;
const AGAIN_MS = 200;
const REASON = 'a fault run';

/** Erases all rows, and forgets all subjects, by several workers side by side. */
export async function forgetAll(
  world: RunWorld,
  stack: ForgettingStack,
  { erased, subjects }: Written,
): Promise<Forgetting> {
  const erasures = erasuresClient(stack.options);
  const operations = subjectsClient(stack.options);
  const answers = { erased: 0, erasing: 0 };
  const rows = [...new Set(erased.map(({ row_key }) => row_key))];
  const patients = [...subjects];
  const erase = async (): Promise<void> => {
    for (let row_key = rows.pop(); row_key !== undefined; row_key = rows.pop()) {
      const key = row_key;
      const { state } = await untilAnswered(world, () => erasures.erase({ row_key: key, reason: REASON }));
      answers[state] += 1;
      const done = answers.erased + answers.erasing;
      if (done % 250 === 0) world.say(`${grouped(done)} rows are erased`);
    }
  };
  const forget = async (): Promise<void> => {
    for (let subject = patients.pop(); subject !== undefined; subject = patients.pop()) {
      const patient = subject;
      const { had_key } = await untilAnswered(world, () => operations.forget({ subject: patient, reason: REASON }));
      if (!had_key) throw new Error('a subject had no key: nothing was sealed for it');
    }
  };
  await Promise.all([...Array.from({ length: ERASERS }, erase), ...Array.from({ length: FORGETTERS }, forget)]);
  return { answers };
}

/** Both may be repeated. */
async function untilAnswered<T>({ signal }: RunWorld, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof SchemalessError) || error.retry === 'never') throw error;
      signal.throwIfAborted();
      await sleep(AGAIN_MS);
    }
  }
}
