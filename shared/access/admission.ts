import { SchemalessError } from '../errors.ts';

interface AdmissionSettings {
  /** Requests of one group at once in this process; more would wait for its connections. @default 32 */
  readonly atOnce: number;
  readonly burstMs: number;
  /** Longest wait while there is more than a burst: early refusals keep the rest fast. @default 100 */
  readonly overloadMs: number;
}

const ADMISSION_SETTINGS: AdmissionSettings = { atOnce: 32, burstMs: 1000, overloadMs: 100 };

/** Work that outlasts a burst waits for a table or the group, and holds no place, up to so many times `atOnce`. */
const MOST_OVERDUE = 3;

/**
 * Runs work of a group once it is let in; a slow group or a locked table holds up no other. Reads and writes have
 * separate places. Work that waits for another group steps aside, and holds no place any more.
 */
export type Admission = <T>(
  group: string,
  work: (stepAside: () => void) => Promise<T>,
  kind?: 'reads' | 'writes',
) => Promise<T>;

interface Waiting {
  readonly since: number;
  readonly enter: (work: Running) => void;
  readonly refuse: () => void;
  timer: NodeJS.Timeout;
}

interface Running {
  readonly since: number;
  /** Outlasted a burst, or stepped aside. */
  isOverdue: boolean;
}

/**
 * Bounds work by controlled delay: a burst waits up to a second. Once something has waited that long, new work waits a
 * tenth of it and is then refused, so that admitted work is fast and refusals are early. (K. Nichols, V. Jacobson,
 * "Controlling Queue Delay", 2012; B. Maurer, "Fail at Scale", 2015.) Throws SchemalessError `overloaded`: nothing was
 * begun.
 */
export function openAdmission(settings: Partial<AdmissionSettings> = {}): Admission {
  const whole = { ...ADMISSION_SETTINGS, ...settings };
  const lanes = new Map<string, Lane>();
  return async (group, work, kind = 'reads') => {
    const name = `${kind} of ${group}`;
    const lane = lanes.get(name) ?? new Lane(name, whole);
    lanes.set(name, lane);
    const running = lane.enter() ?? (await lane.wait());
    try {
      return await work(() => lane.stepAside(running));
    } finally {
      lane.leave(running);
    }
  };
}

class Lane {
  readonly #name: string;
  readonly #settings: AdmissionSettings;
  readonly #running = new Set<Running>();
  #overdue = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #queue: Waiting[] = [];
  /** When work last came to an empty queue: a queue that stays is no burst. */
  #emptyAt = performance.now();
  readonly #clearLater = (): void => this.#clear();

  constructor(name: string, settings: AdmissionSettings) {
    this.#name = name;
    this.#settings = settings;
  }

  enter(): Running | undefined {
    if (this.#queue.length > 0) return undefined;
    this.#emptyAt = performance.now();
    if (this.#running.size >= this.#settings.atOnce) this.#clear();
    return this.#running.size < this.#settings.atOnce ? this.#begin(this.#emptyAt) : undefined;
  }

  wait(): Promise<Running> {
    return new Promise((resolve, reject) => {
      const refuse = (): void =>
        reject(
          new SchemalessError(
            'overloaded',
            `more ${this.#name} than can be served: this one waited for its turn in vain`,
          ),
        );
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        refuse();
      };
      const waiting: Waiting = {
        since: performance.now(),
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
    return performance.now() - this.#emptyAt > burstMs ? overloadMs : burstMs;
  }

  #begin(since: number): Running {
    const work: Running = { since, isOverdue: false };
    this.#running.add(work);
    return work;
  }

  /** Takes the places of work that outlasted a burst, and comes again for the next. */
  #clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const work of this.#running) {
      const leftMs = work.since + this.#settings.burstMs - performance.now();
      if (this.#isCrowded()) return;
      if (leftMs > 0) {
        if (this.#queue.length > 0) this.#timer = setTimeout(this.#clearLater, leftMs);
        return;
      }
      this.stepAside(work);
    }
  }

  stepAside(work: Running): void {
    if (work.isOverdue || this.#isCrowded()) return;
    work.isOverdue = true;
    this.#overdue += 1;
    this.#release(work);
  }

  #isCrowded(): boolean {
    return this.#overdue >= MOST_OVERDUE * this.#settings.atOnce;
  }

  /** Passes a place on to the first waiter whose time is not up. */
  #release(work: Running): void {
    this.#running.delete(work);
    while (this.#queue.length > 0) {
      const next = this.#queue.shift() as Waiting;
      clearTimeout(next.timer);
      if (performance.now() - next.since <= this.#mayWaitMs()) return next.enter(this.#begin(performance.now()));
      next.refuse();
    }
  }
}
