import type { FileProgress, Progress } from '../../../shared/files/file-progress.ts';

const EVERY_MS = 1000;
const RATE_MS = 10_000;

/** Shows a bar on a terminal, else a line of NDJSON each second: `{"cells", "cells_per_second", "eta_seconds", …}`. */
export async function showProgress(stream: NodeJS.WriteStream): Promise<FileProgress> {
  return stream.isTTY ? bar(stream) : lines(stream);
}

async function bar(stream: NodeJS.WriteStream): Promise<FileProgress> {
  const { Presets, SingleBar } = (await import('cli-progress')).default;
  const rate = new Rate();
  const single = new SingleBar(
    {
      format: '{bar} {percentage} % | {cells} cells | {rate} cells/s | {left}{rejected}',
      stream,
      hideCursor: true,
      clearOnComplete: false,
    },
    Presets.shades_classic,
  );
  let isStarted = false;
  return {
    tell(progress) {
      const share = shareOf(progress);
      const { perSecond, eta } = rate.at(progress);
      const { rejected = 0 } = progress.counts ?? {};
      const payload = {
        cells: progress.cells,
        rate: perSecond,
        left: eta === undefined ? 'unknown time left' : `${timeOf(eta)} left`,
        rejected: rejected > 0 ? ` | ${rejected} rejected` : '',
      };
      if (!isStarted) single.start(1000, 0, payload);
      isStarted = true;
      single.update(Math.floor((share ?? 0) * 1000), payload);
    },
    stop() {
      if (isStarted) single.stop();
    },
  };
}

function lines(stream: NodeJS.WriteStream): FileProgress {
  const rate = new Rate();
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    tell(progress) {
      const { perSecond, eta } = rate.at(progress);
      if (performance.now() - toldAt < EVERY_MS) return;
      toldAt = performance.now();
      const { cells, counts = {} } = progress;
      const line = { cells, ...counts, share: shareOf(progress), cells_per_second: perSecond, eta_seconds: eta };
      stream.write(`${JSON.stringify(line)}\n`);
    },
    stop: () => undefined,
  };
}

function shareOf({ cells, bytes = 0, totalBytes, totalCells }: Progress): number | undefined {
  if (totalCells !== undefined) return totalCells === 0 ? 1 : Math.min(1, cells / totalCells);
  if (totalBytes !== undefined) return totalBytes === 0 ? 1 : Math.min(1, bytes / totalBytes);
  return undefined;
}

class Rate {
  readonly #seen: { readonly at: number; readonly cells: number; readonly share: number | undefined }[] = [];

  /** Returns the cells a second, and the seconds left, by the recent speed. */
  at(progress: Progress): { readonly perSecond: number; readonly eta: number | undefined } {
    const now = { at: performance.now(), cells: progress.cells, share: shareOf(progress) };
    this.#seen.push(now);
    while (this.#seen.length > 2 && now.at - (this.#seen[1]?.at ?? now.at) > RATE_MS) this.#seen.shift();
    const [first = now] = this.#seen;
    const seconds = (now.at - first.at) / 1000;
    if (seconds === 0) return { perSecond: 0, eta: undefined };
    const gained = (now.share ?? 0) - (first.share ?? 0);
    return {
      perSecond: Math.round((now.cells - first.cells) / seconds),
      eta: now.share === undefined || gained <= 0 ? undefined : Math.round(((1 - now.share) / gained) * seconds),
    };
  }
}

export function timeOf(seconds: number): string {
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}
