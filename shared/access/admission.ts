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

/**
 * Work that has not ended within a burst waits for one table or the whole group: it holds no place, up to so many times
 * as much as has one.
 */
const MOST_OVERDUE = 3;

/**
 * Lets so many pieces of work run at once, each group's for itself: a slow group cannot hold the others' requests, nor
 * can a table that somebody locked those of its group.
 */
export type Admission = <T>(group: string, work: () => Promise<T>) => Promise<T>;

interface Waiting {
  readonly since: number;
  readonly enter: (work: Running) => void;
  readonly refuse: () => void;
  timer: NodeJS.Timeout;
}

/** Work under way. */
interface Running {
  readonly since: number;
  isOverdue: boolean;
}

interface Lane {
  /** Those that hold a place, in the order in which they began. */
  readonly running: Set<Running>;
  overdue: number;
  /** While somebody waits. */
  timer: NodeJS.Timeout | undefined;
  readonly queue: Waiting[];
  /** When last somebody came and nobody waited: a queue that stays is no burst. */
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
export function openAdmission(
  settings: Partial<AdmissionSettings> = {},
  now: () => number = () => performance.now(),
): Admission {
  const { atOnce, burstMs, overloadMs } = { ...ADMISSION_SETTINGS, ...settings };
  const lanes = new Map<string, Lane>();

  function laneOf(group: string): Lane {
    let lane = lanes.get(group);
    if (!lane)
      lanes.set(group, (lane = { running: new Set(), overdue: 0, timer: undefined, queue: [], emptyAt: now() }));
    return lane;
  }

  const mayWaitMs = (lane: Lane): number => (now() - lane.emptyAt > burstMs ? overloadMs : burstMs);

  /** Takes the place of work that begins. */
  function begin(lane: Lane, since: number): Running {
    const work: Running = { since, isOverdue: false };
    lane.running.add(work);
    return work;
  }

  /** Has work give up its place that has had it for longer than a burst, and comes again when the next will have. */
  function clear(lane: Lane): void {
    clearTimeout(lane.timer);
    lane.timer = undefined;
    for (const work of lane.running) {
      const leftMs = work.since + burstMs - now();
      if (lane.overdue >= MOST_OVERDUE * atOnce) return;
      if (leftMs > 0) {
        if (lane.queue.length > 0) lane.timer = setTimeout(clear, leftMs, lane);
        return;
      }
      work.isOverdue = true;
      lane.overdue += 1;
      release(lane, work);
    }
  }

  function hasRoom(lane: Lane): boolean {
    if (lane.queue.length > 0) return false;
    lane.emptyAt = now();
    if (lane.running.size >= atOnce) clear(lane);
    return lane.running.size < atOnce;
  }

  function wait(lane: Lane, group: string): Promise<Running> {
    return new Promise((resolve, reject) => {
      const refuse = (): void =>
        reject(
          new SchemalessError(
            'overloaded',
            `more requests of ${group} than can be served: this one waited for its turn in vain`,
          ),
        );
      const leave = (): void => {
        lane.queue.splice(lane.queue.indexOf(waiting), 1);
        refuse();
      };
      const waiting: Waiting = { since: now(), enter: resolve, refuse, timer: setTimeout(leave, mayWaitMs(lane)) };
      lane.queue.push(waiting);
      if (!lane.timer) clear(lane);
    });
  }

  /** Passes a place on, to the first whose time is not up. */
  function release(lane: Lane, work: Running): void {
    lane.running.delete(work);
    while (lane.queue.length > 0) {
      const next = lane.queue.shift() as Waiting;
      clearTimeout(next.timer);
      if (now() - next.since <= mayWaitMs(lane)) return next.enter(begin(lane, now()));
      next.refuse();
    }
  }

  return async (group, work) => {
    const lane = laneOf(group);
    const running = hasRoom(lane) ? begin(lane, lane.emptyAt) : await wait(lane, group);
    try {
      return await work();
    } finally {
      if (running.isOverdue) lane.overdue -= 1;
      else release(lane, running);
    }
  };
}
