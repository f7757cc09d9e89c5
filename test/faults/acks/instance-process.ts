/** An instance of a function that writes, and is killed in the middle of it. */
import { CellSource } from '../load/cell-source.ts';
import { asker } from '../load/ask.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';
import { openStore } from '../../support/store-access.ts';
import { noteLines } from '../line-log.ts';
import type { CallLine, InstanceInput } from './killed-instances.ts';

await runAsProcess<InstanceInput, undefined>(async ({ access, journal: file, writers, seed, mix }, control) => {
  await using store = await openStore(access);
  using journal = noteLines<CallLine>(file);
  const ask = asker({ writer: store.datastore });
  let calls = 0;
  const write = async (number: number): Promise<void> => {
    const source = new CellSource(seed, number, mix);
    while (!control.signal.aborted) {
      const next = source.next();
      const cells = 'cells' in next ? next.cells : [next.cell];
      const call = (calls += 1);
      journal.note({ call, cells });
      journal.note({ call, answers: await ask(cells, next.kind === 'transaction') });
    }
  };
  control.ready();
  await Promise.all(Array.from({ length: writers }, (_, number) => write(number)));
});
