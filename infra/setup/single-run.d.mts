/** Runs `work` while no other process runs the same `task`; waits for as long as the other one lives. */
export function singleRun<Result>(task: string, work: () => Result | Promise<Result>): Promise<Result>;
