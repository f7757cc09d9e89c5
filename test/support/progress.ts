import { Presets, SingleBar } from 'cli-progress';
import { grouped } from './text-table.ts';

export interface Progress {
  advance(count?: number): void;
  /** Says something beside it: "640 billed". */
  note(text: string): void;
  stop(): void;
}

/** Between two lines where there is no terminal to draw a bar on. */
const LINE_EVERY_MS = 5000;

/**
 * A progress bar on a terminal; elsewhere (a pipe, CI) a line every few seconds.
 *
 * @param label what is being done, "writing"
 * @param unit of `total`, "trips"
 */
export function startProgress(label: string, total: number, unit: string): Progress {
  return process.stdout.isTTY ? bar(label, total, unit) : lines(label, total, unit);
}

function bar(label: string, total: number, unit: string): Progress {
  const format = `${label.padEnd(22)} {bar} {value} of {total} ${unit} {note}`;
  const single = new SingleBar(
    { format, stream: process.stdout, hideCursor: true, barsize: 30, clearOnComplete: true },
    Presets.shades_classic,
  );
  single.start(total, 0, { note: '' });
  return {
    advance: (count = 1) => single.increment(count),
    note: (text) => single.update({ note: `(${text})` }),
    stop: () => single.stop(),
  };
}

function lines(label: string, total: number, unit: string): Progress {
  let done = 0;
  let beside = '';
  // Clock: prints progress.
  const timer = setInterval(
    () => console.log(`${label}: ${grouped(done)} of ${grouped(total)} ${unit}${beside}`),
    LINE_EVERY_MS,
  );
  timer.unref();
  return {
    advance: (count = 1) => {
      done += count;
    },
    note: (text) => {
      beside = ` (${text})`;
    },
    stop: () => clearInterval(timer),
  };
}
