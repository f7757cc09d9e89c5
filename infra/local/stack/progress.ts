import { performance } from 'node:perf_hooks';

const EVERY_MS = 2000;

export function showProgress(log: (line: string) => void, everyMs = EVERY_MS) {
  const begun = performance.now();
  const underWay = new Set<{ readonly what: string }>();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - begun) / 1000);
    if (underWay.size > 0) log(`${seconds} s: ${[...underWay].map(({ what }) => what).join(', ')}`);
  }, everyMs);
  timer.unref();
  return {
    async during<T>(what: string, work: Promise<T>): Promise<T> {
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
