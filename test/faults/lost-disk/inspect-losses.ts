import type { Aftermath } from '../aftermath.ts';
import type { Written } from '../load/ledger.ts';
import type { Stage } from '../stage.ts';
import { storedLogs } from '../stored-logs.ts';
import type { DiskLoss } from './lose-disk.ts';
import { appendedAgain, misplaced } from './misplaced.ts';

export interface LostAftermath {
  readonly aftermath: Aftermath;
  /** Acknowledged cells that have another added id than answered. */
  readonly again: number;
}

/** As `Stage.inspect`, where cells behind a cut may have been appended again. */
export async function inspectLosses(
  stage: Stage,
  written: Written,
  losses: readonly DiskLoss[],
): Promise<LostAftermath> {
  // Where they are is judged by `misplaced`: the store may have given them new added ids.
  const anywhere = written.acked.map((cell) => ({ ...cell, added_id: 0 }));
  const aftermath = await stage.inspect({ ...written, acked: anywhere });
  const logs = await storedLogs(stage.access.groups);
  const cuts = new Map(losses.flatMap(({ cut }) => [...cut]));
  const { moved: _moved, ...faults } = aftermath.faults;
  return {
    aftermath: { ...aftermath, faults: { misplaced: misplaced(written.acked, logs, cuts), ...faults } },
    again: appendedAgain(written.acked, logs),
  };
}
