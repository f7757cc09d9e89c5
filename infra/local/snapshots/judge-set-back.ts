import { existsSync, readFileSync } from 'node:fs';
import type { DataFolder } from '../folder/data-folder.ts';
import { writeFileAtomically } from '../folder/write-file-atomically.ts';
import type { Snapshot } from './snapshot.ts';

/** The time of each group's last restore, by group. */
type SetBacks = Readonly<Record<string, string>>;

export function readSetBacks({ setBacks }: Pick<DataFolder, 'setBacks'>): SetBacks {
  return existsSync(setBacks) ? (JSON.parse(readFileSync(setBacks, 'utf8')) as SetBacks) : {};
}

export function noteSetBack(folder: Pick<DataFolder, 'setBacks'>, group: string): void {
  writeFileAtomically(folder.setBacks, JSON.stringify({ ...readSetBacks(folder), [group]: new Date().toISOString() }));
}

/** Returns why a group would not get back all that was written since a snapshot. */
export function whyCellsWouldGo(
  group: string,
  { taken_at: takenAt }: Pick<Snapshot, 'taken_at'>,
  { keepMinutes, setBacks, now = Date.now() }: { keepMinutes: number; setBacks: SetBacks; now?: number },
): string | undefined {
  const minutes = (now - Date.parse(takenAt)) / 60_000;
  // Without kept copies, even the same millisecond is too late.
  if (minutes >= keepMinutes)
    return `copies are kept for ${keepMinutes} minutes (--keep-copies of npm start), and the snapshot is ${Math.ceil(minutes)} old`;
  const other = Object.entries(setBacks).find(([name, at]) => name !== group && at > takenAt);
  return (
    other &&
    `${other[0]} was set back at ${other[1]}, after the snapshot, and has lost the copies that it kept for ${group}`
  );
}
