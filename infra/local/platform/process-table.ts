import { existsSync } from 'node:fs';
import { linuxProcesses } from './linux-processes.ts';
import { posixProcesses } from './posix-processes.ts';
import type { ProcessTable } from './process-source.ts';

export { TICKS_PER_SECOND } from './process-source.ts';

/** The only check of the system: `/proc` on Linux, `ps` elsewhere. */
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
