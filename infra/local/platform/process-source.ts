export interface ProcessTable {
  /** False for a zombie. */
  isRunning(pid: number): boolean;
  /** In the system's own words; undefined without such a process. */
  startTimeOf(pid: number): string | undefined;
  /** Includes shared memory; 0 without such a process. */
  residentBytes(pid: number): number;
  /** Counts shared memory in part, where the system says so. */
  proportionalBytes(pid: number): number;
  /** Processor time by thread id, or of the whole process; empty without such a process. */
  cpuTicks(pid: number): ReadonlyMap<string, { readonly name: string; readonly ticks: number }>;
  processesWithArgument(argument: string): readonly number[];
  processesNaming(text: string): readonly number[];
  openFilesLimit(): number;
}

/** The unit of `cpuTicks`: the same on every Linux. */
export const TICKS_PER_SECOND = 100;
