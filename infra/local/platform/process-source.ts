/** What a system says of its processes. */
export interface ProcessTable {
  /** True while the process exists; one that has ended and was not yet waited for (a zombie) does not count. */
  isRunning(pid: number): boolean;
  /** When a process started, in the system's own words; undefined when there is no such process. */
  startTimeOf(pid: number): string | undefined;
  /** What a process has in memory, what it shares with others included; 0 when there is no such process. */
  residentBytes(pid: number): number;
  /**
   * What a process has in memory, of what it shares with others its part; what it has in memory where the system says no
   * more.
   */
  proportionalBytes(pid: number): number;
  /**
   * The processor time of each thread of a process, by thread id; empty when there is no such process. One of the whole
   * process where the system says no more.
   */
  cpuTicks(pid: number): ReadonlyMap<string, { readonly name: string; readonly ticks: number }>;
  /** The processes that were started with exactly this argument. */
  processesWithArgument(argument: string): readonly number[];
  /** The processes whose command line holds this text. */
  processesNaming(text: string): readonly number[];
  /** The most files that a process started from here may open. */
  openFilesLimit(): number;
}

/** In which `cpuTicks` counts: the same on every Linux. */
export const TICKS_PER_SECOND = 100;
