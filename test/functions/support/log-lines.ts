import { Metrics } from '@aws-lambda-powertools/metrics';
import { afterEach, beforeEach, vi } from 'vitest';
import { logger } from '../../../functions/environment/log.ts';

type Line = Readonly<Record<string, unknown>>;

/** Log lines and metrics of functions during a test, at every level, even those that another test file switched off. */
interface LogLines {
  messages(): readonly Line[];
  /** Lines in CloudWatch's embedded metric format. */
  metrics(): readonly Line[];
  /** Returns all output unchanged. */
  text(): string;
}

/** Captures the log lines of this block's tests, instead of writing them. */
export function keepLogLines(): LogLines {
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
    messages: () =>
      text()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Line),
    metrics: () => counted as Line[],
    text: () => `${text()}${JSON.stringify(counted)}`,
  };
}
