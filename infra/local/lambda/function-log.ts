import { openLogFile, type LogFile } from './log-file.ts';

/** The log file of all functions; each line begins with time and title. */
export interface FunctionLog extends LogFile {
  /** Accepts chunks; lines of one instance stay whole. */
  write(title: string, instance: number, chunk: Buffer): void;
}

/** Begins a line in CloudWatch's embedded metric format. */
const FIGURES = '{"_aws":';

/** Metrics, nine lines in ten, go to a file of their own. */
export function openFunctionLog(path: string, metricsPath: string): FunctionLog {
  const [said, figures] = [openLogFile(path), openLogFile(metricsPath)];
  const unfinished = new Map<string, string>();
  return {
    path,
    line: said.line,
    write(title, instance, chunk) {
      const key = `${title} ${instance}`;
      const lines = `${unfinished.get(key) ?? ''}${chunk.toString()}`.split('\n');
      unfinished.set(key, lines.pop() ?? '');
      for (const text of lines) (text.startsWith(FIGURES) ? figures : said).line(title, text);
    },
    async close() {
      await Promise.all([said.close(), figures.close()]);
    },
  };
}
