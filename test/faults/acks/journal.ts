import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { NewCell } from '../../../shared/cell.ts';
import type { Answer } from '../load/ask.ts';

/** What a process is about to ask, and what it was answered: it outlives the process, whenever that is killed. */
export interface Journal extends Disposable {
  begin(call: number, cells: readonly NewCell[]): void;
  end(call: number, answers: readonly Answer[]): void;
}

type Line =
  | { readonly call: number; readonly cells: readonly NewCell[]; readonly answers?: undefined }
  | { readonly call: number; readonly answers: readonly Answer[] };

/** Writes each line with one call of the system, which has it from then on. */
export function openJournal(file: string): Journal {
  const handle = openSync(file, 'a');
  const note = (line: Line): void => void writeSync(handle, `${JSON.stringify(line)}\n`);
  return {
    begin: (call, cells) => note({ call, cells }),
    end: (call, answers) => note({ call, answers }),
    [Symbol.dispose]: () => closeSync(handle),
  };
}

export interface Journaled {
  readonly answers: readonly Answer[];
  /** Cells that were asked for by calls whose answer nobody has. */
  readonly inDoubt: readonly (readonly NewCell[])[];
}

export function readJournal(file: string): Journaled {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
  const open = new Map<number, readonly NewCell[]>();
  const answers: Answer[] = [];
  for (const line of lines) {
    if (line.answers === undefined) open.set(line.call, line.cells);
    else {
      open.delete(line.call);
      answers.push(...line.answers);
    }
  }
  return { answers, inDoubt: [...open.values()] };
}
