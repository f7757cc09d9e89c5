import { SchemalessError } from '../errors.ts';

export interface AdmissionSettings {
  /** Requests of one group under way at once in this process; more would only wait for its connections. @default 32 */
  readonly atOnce: number;
  /** How long a request may wait for its turn in a burst. @default 1000 */
  readonly burstMs: number;
  /** How long one may wait while there is more than a burst: then early refusals keep the rest fast. @default 100 */
  readonly overloadMs: number;
}

export const ADMISSION_SETTINGS: AdmissionSettings = { atOnce: 32, burstMs: 1000, overloadMs: 100 };

/** Lets so many pieces of work run at once, each group's for itself: a slow group cannot hold the others' requests. */
export type Admission = <T>(group: string, work: () => Promise<T>) => Promise<T>;

interface Waiting {
  readonly since: number;
  readonly enter: () => void;
  readonly refuse: () => void;
  timer: NodeJS.Timeout;
}

interface Lane {
  running: number;
  readonly queue: Waiting[];
  /** When last nobody waited: a queue that stays is no burst. */
  emptyAt: number;
}

/**
 * Bounds what is under way, by controlled delay: a burst waits its turn for up to a second; once somebody has been
 * waiting for all of that time, whoever comes waits a tenth of it and is refused then, so that those let in are served
 * fast, and those who are not know it early. (K. Nichols, V. Jacobson, "Controlling Queue Delay", 2012; with timeouts
 * as B. Maurer describes it for servers, "Fail at Scale", 2015.)
 *
 * @throws SchemalessError `overloaded`: nothing was begun
 */
export function openAdmission(settings: Partial<AdmissionSettings> | false = {}, now: () => number = () => performance.now()): Admission {
  if (settings === false) return (_group, work) => work();
  const { atOnce, burstMs, overloadMs } = { ...ADMISSION_SETTINGS, ...settings };
  const lanes = new Map<string, Lane>();

  function laneOf(group: string): Lane {
    let lane = lanes.get(group);
    if (!lane) lanes.set(group, (lane = { running: 0, queue: [], emptyAt: now() }));
    return lane;
  }

  const mayWaitMs = (lane: Lane): number => (now() - lane.emptyAt > burstMs ? overloadMs : burstMs);

  /** Whether there was room at once. */
  function enter(lane: Lane): boolean {
    if (lane.queue.length > 0) return false;
    lane.emptyAt = now();
    if (lane.running >= atOnce) return false;
    lane.running += 1;
    return true;
  }

  function wait(lane: Lane, group: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (): void => reject(new SchemalessError('overloaded', `more requests of ${group} than can be served: this one waited for its turn in vain`));
      const leave = (): void => {
        lane.queue.splice(lane.queue.indexOf(waiting), 1);
        refuse();
      };
      const waiting: Waiting = { since: now(), enter: resolve, refuse, timer: setTimeout(leave, mayWaitMs(lane)) };
      lane.queue.push(waiting);
    });
  }

  /** Passes a turn on, to the first whose time is not up. */
  function release(lane: Lane): void {
    for (let next = lane.queue.shift(); next; next = lane.queue.shift()) {
      clearTimeout(next.timer);
      if (now() - next.since <= mayWaitMs(lane)) return next.enter();
      next.refuse();
    }
    lane.emptyAt = now();
    lane.running -= 1;
  }

  return async (group, work) => {
    const lane = laneOf(group);
    if (!enter(lane)) await wait(lane, group);
    try {
      return await work();
    } finally {
      release(lane);
    }
  };
}
