import { inspect, type Aftermath } from '../aftermath.ts';
import type { Written } from '../load/ledger.ts';
import { openStore, PATIENT, type StoreAccess } from '../../support/store-access.ts';
import { storedLogs } from '../stored-logs.ts';
import type { DiskLoss } from './lose-disk.ts';
import { appendedAgain, misplaced } from './misplaced.ts';

export interface Losses {
  readonly access: StoreAccess;
  readonly written: Written;
  readonly losses: readonly DiskLoss[];
  readonly signal: AbortSignal;
}

export interface LostAftermath {
  readonly aftermath: Aftermath;
  /** Acknowledged cells that have another added id than answered. */
  readonly again: number;
}

/** As `inspect`, where cells behind a cut may have been appended again. */
export async function inspectLosses({ access, written, losses, signal }: Losses): Promise<LostAftermath> {
  await using store = await openStore({ ...access, sql: PATIENT });
  // Where they are is judged by `misplaced`: the store may have given them new added ids.
  const anywhere = written.acked.map((cell) => ({ ...cell, added_id: 0 }));
  const aftermath = await inspect({ datastore: store.datastore, groups: access.groups, written: { ...written, acked: anywhere }, signal });
  const logs = await storedLogs(access.groups);
  const cuts = new Map(losses.flatMap(({ cut }) => [...cut]));
  const { moved: _moved, ...faults } = aftermath.faults;
  return { aftermath: { ...aftermath, faults: { misplaced: misplaced(written.acked, logs, cuts), ...faults } }, again: appendedAgain(written.acked, logs) };
}
