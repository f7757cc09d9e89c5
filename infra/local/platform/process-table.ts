import { existsSync } from 'node:fs';
import { linuxProcesses } from './linux-processes.ts';
import { posixProcesses } from './posix-processes.ts';
import type { ProcessTable } from './process-source.ts';

export { TICKS_PER_SECOND } from './process-source.ts';

/** The one place that asks which system this is: `/proc` on Linux, `ps` on macOS and elsewhere. */
const TABLE: ProcessTable = existsSync('/proc/self/stat') ? linuxProcesses : posixProcesses;

export const {
  isRunning,
  startTimeOf,
  residentBytes,
  proportionalBytes,
  cpuTicks,
  processesWithArgument,
  processesNaming,
  openFilesLimit,
} = TABLE;
