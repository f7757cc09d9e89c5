import { performance } from 'node:perf_hooks';

/** Says what a start is waiting for, while it takes its time. */
interface Progress {
  /** Names some work for as long as it is under way. */
  during<T>(what: string, work: Promise<T>): Promise<T>;
  end(): void;
}

/** Whoever waits for longer wants to know what for. */
const EVERY_MS = 2000;

/** @param log gets a line every two seconds: `4 s: making the templates, starting 6 servers` */
export function showProgress(log: (line: string) => void, everyMs = EVERY_MS): Progress {
  const begun = performance.now();
  const underWay = new Set<{ readonly what: string }>();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - begun) / 1000);
    if (underWay.size > 0) log(`${seconds} s: ${[...underWay].map(({ what }) => what).join(', ')}`);
  }, everyMs);
  timer.unref();
  return {
    async during(what, work) {
      const one = { what };
      underWay.add(one);
      try {
        return await work;
      } finally {
        underWay.delete(one);
      }
    },
    end: () => clearInterval(timer),
  };
}
