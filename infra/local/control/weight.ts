import { residentBytes } from '../platform/process-table.ts';
import { filesBelow } from './files-below.ts';

export interface Weight {
  readonly stackMemory: number;
  readonly serverMemory: number;
  /** What the data folder's files take. */
  readonly disk: number;
}

export function weightOf({
  own,
  servers,
  folder,
}: {
  readonly own: readonly number[];
  readonly servers: readonly number[];
  readonly folder: string;
}): Weight {
  const memory = (pids: readonly number[]): number =>
    [...new Set(pids)].reduce((sum, pid) => sum + residentBytes(pid), 0);
  return { stackMemory: memory(own), serverMemory: memory(servers), disk: filesBelow(folder).disk.taken };
}
