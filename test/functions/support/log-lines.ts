import { Metrics } from '@aws-lambda-powertools/metrics';
import { afterEach, beforeEach, vi } from 'vitest';
import { logger } from '../../../functions/environment/log.ts';

type Line = Readonly<Record<string, unknown>>;

/**
 * Captures the log lines and metrics of this block's tests, instead of writing them: at every level, even those that
 * another test file switched off.
 */
export function keepLogLines() {
  let written: string[] = [];
  let counted: object[] = [];
  let level = logger.getLevelName();
  beforeEach(() => {
    written = [];
    counted = [];
    level = logger.getLevelName();
    logger.setLogLevel('DEBUG');
    const keep = (chunk: string | Uint8Array): boolean => (written.push(String(chunk)), true);
    vi.spyOn(process.stdout, 'write').mockImplementation(keep);
    vi.spyOn(process.stderr, 'write').mockImplementation(keep);
    vi.spyOn(Metrics.prototype, 'publishStoredMetrics').mockImplementation(function (this: Metrics) {
      counted.push(this.serializeMetrics());
      this.clearMetrics();
      return this;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    logger.setLogLevel(level);
  });
  const text = (): string => written.join('');
  return {
    messages: (): readonly Line[] =>
      text()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Line),
    /** Lines in CloudWatch's embedded metric format. */
    metrics: () => counted as readonly Line[],
    /** All output unchanged. */
    text: (): string => `${text()}${JSON.stringify(counted)}`,
  };
}
