import type { PlanProgress } from '../../../shared/moves/plan-progress.ts';
import { timeOf } from '../files/progress.ts';
import { bytesText } from './bytes-text.ts';

/** Is told how far a plan is, as often as somebody likes. */
interface MovesShown {
  tell(progress: PlanProgress): void;
  stop(): void;
}

/** Lines of NDJSON come no more often. */
const EVERY_MS = 1000;

/** A bar where a terminal is, else a line of NDJSON a second at most, of all that is known. */
export async function showMoves(stream: NodeJS.WriteStream): Promise<MovesShown> {
  return stream.isTTY ? bar(stream) : lines(stream);
}

async function bar(stream: NodeJS.WriteStream): Promise<MovesShown> {
  const { Presets, SingleBar } = (await import('cli-progress')).default;
  const single = new SingleBar(
    { format: '{bar} {line}', stream, hideCursor: true, clearOnComplete: false },
    Presets.shades_classic,
  );
  let isStarted = false;
  return {
    tell(progress) {
      const payload = { line: progressLine(progress) };
      if (!isStarted) single.start(1000, 0, payload);
      isStarted = true;
      single.update(Math.floor(progress.percent * 10), payload);
    },
    stop() {
      if (isStarted) single.stop();
    },
  };
}

/** What stands behind the bar. */
function progressLine(progress: PlanProgress): string {
  const { percent, moved, moves, under_way, bytes_per_second, eta_seconds } = progress;
  const left = eta_seconds === null ? 'unknown time left' : `${timeOf(eta_seconds)} left`;
  const shards = `${moved} of ${moves} shards, ${under_way} under way`;
  return `${percent} % | ${shards} | ${bytesText(bytes_per_second)}/s | ${left}`;
}

function lines(stream: NodeJS.WriteStream): MovesShown {
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    tell(progress) {
      if (performance.now() - toldAt < EVERY_MS) return;
      toldAt = performance.now();
      stream.write(`${JSON.stringify(progress)}\n`);
    },
    stop: () => undefined,
  };
}
