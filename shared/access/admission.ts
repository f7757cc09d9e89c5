import { SchemalessError } from '../errors.ts';

interface AdmissionSettings {
  /** Requests of one group under way at once in this process; more would only wait for its connections. @default 32 */
  readonly atOnce: number;
  /** How long a request may wait for its turn in a burst. @default 1000 */
  readonly burstMs: number;
  /** How long one may wait while there is more than a burst: then early refusals keep the rest fast. @default 100 */
  readonly overloadMs: number;
}

const ADMISSION_SETTINGS: AdmissionSettings = { atOnce: 32, burstMs: 1000, overloadMs: 100 };

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
  const whole = { ...ADMISSION_SETTINGS, ...settings };
  const lanes = new Map<string, Lane>();
  return async (group, work) => {
    let lane = lanes.get(group);
    if (!lane) lanes.set(group, (lane = new Lane(group, whole, now)));
    const running = lane.enter() ?? (await lane.wait());
    try {
      return await work();
    } finally {
      lane.leave(running);
    }
  };
}

/** The work of one group. */
class Lane {
  readonly #group: string;
  readonly #settings: AdmissionSettings;
  readonly #now: () => number;
  /** Those that hold a place, in the order in which they began. */
  readonly #running = new Set<Running>();
  #overdue = 0;
  /** While somebody waits. */
  #timer: NodeJS.Timeout | undefined;
  readonly #queue: Waiting[] = [];
  /** When last somebody came and nobody waited: a queue that stays is no burst. */
  #emptyAt: number;
  /** One for all timers. */
  readonly #clearLater = (): void => this.#clear();

  constructor(group: string, settings: AdmissionSettings, now: () => number) {
    this.#group = group;
    this.#settings = settings;
    this.#now = now;
    this.#emptyAt = now();
  }

  /** Takes a place at once; undefined where there is none. */
  enter(): Running | undefined {
    if (this.#queue.length > 0) return undefined;
    this.#emptyAt = this.#now();
    if (this.#running.size >= this.#settings.atOnce) this.#clear();
    return this.#running.size < this.#settings.atOnce ? this.#begin(this.#emptyAt) : undefined;
  }

  /** Waits for a place. */
  wait(): Promise<Running> {
    return new Promise((resolve, reject) => {
      const refuse = (): void =>
        reject(
          new SchemalessError(
            'overloaded',
            `more requests of ${this.#group} than can be served: this one waited for its turn in vain`,
          ),
        );
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        refuse();
      };
      const waiting: Waiting = {
        since: this.#now(),
        enter: resolve,
        refuse,
        timer: setTimeout(leave, this.#mayWaitMs()),
      };
      this.#queue.push(waiting);
      if (!this.#timer) this.#clear();
    });
  }

  leave(work: Running): void {
    if (work.isOverdue) this.#overdue -= 1;
    else this.#release(work);
  }

  #mayWaitMs(): number {
    const { burstMs, overloadMs } = this.#settings;
    return this.#now() - this.#emptyAt > burstMs ? overloadMs : burstMs;
  }

  /** Takes the place of work that begins. */
  #begin(since: number): Running {
    const work: Running = { since, isOverdue: false };
    this.#running.add(work);
    return work;
  }

  /** Has work give up its place that has had it for longer than a burst, and comes again when the next will have. */
  #clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const work of this.#running) {
      const leftMs = work.since + this.#settings.burstMs - this.#now();
      if (this.#overdue >= MOST_OVERDUE * this.#settings.atOnce) return;
      if (leftMs > 0) {
        if (this.#queue.length > 0) this.#timer = setTimeout(this.#clearLater, leftMs);
        return;
      }
      work.isOverdue = true;
      this.#overdue += 1;
      this.#release(work);
    }
  }

  /** Passes a place on, to the first whose time is not up. */
  #release(work: Running): void {
    this.#running.delete(work);
    while (this.#queue.length > 0) {
      const next = this.#queue.shift() as Waiting;
      clearTimeout(next.timer);
      if (this.#now() - next.since <= this.#mayWaitMs()) return next.enter(this.#begin(this.#now()));
      next.refuse();
    }
  }
}
