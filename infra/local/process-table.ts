import { existsSync } from 'node:fs';
import { linuxProcesses } from './platform/linux-processes.ts';
import { posixProcesses } from './platform/posix-processes.ts';
import type { ProcessTable } from './platform/process-source.ts';

export { TICKS_PER_SECOND } from './platform/process-source.ts';

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
