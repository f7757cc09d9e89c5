import { createWriteStream, renameSync, statSync } from 'node:fs';

const MIB = 1024 * 1024;
/** A start rotates a larger file. */
const MAX_BYTES = 64 * MIB;

export function setAside(path: string): string {
  return `${path}.1`;
}

export function openLogFile(path: string) {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) renameSync(path, setAside(path));
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  return {
    path,
    line: (title: string, text: string) => void stream.write(`${new Date().toISOString()} ${title} ${text}\n`),
    close: () => new Promise<void>((resolve) => stream.end(resolve)),
  };
}

/** Begins a line in CloudWatch's embedded metric format. */
const METRICS_PREFIX = '{"_aws":';

/** The log file of all functions; each line begins with time and title. */
export type FunctionLog = ReturnType<typeof openFunctionLog>;

/** Metrics, nine lines in ten, go to a file of their own. */
export function openFunctionLog(path: string, metricsPath: string) {
  const [output, metrics] = [openLogFile(path), openLogFile(metricsPath)];
  const unfinished = new Map<string, string>();
  return {
    path,
    line: output.line,
    /** Accepts chunks; lines of one instance stay whole. */
    write(title: string, instance: number, chunk: Buffer): void {
      const key = `${title} ${instance}`;
      const lines = `${unfinished.get(key) ?? ''}${chunk.toString()}`.split('\n');
      unfinished.set(key, lines.pop() ?? '');
      for (const text of lines) (text.startsWith(METRICS_PREFIX) ? metrics : output).line(title, text);
    },
    async close() {
      await Promise.all([output.close(), metrics.close()]);
    },
  };
}
