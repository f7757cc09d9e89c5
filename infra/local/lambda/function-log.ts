import { openLogFile, type LogFile } from './log-file.ts';

/** The one file that all functions write into, a line each with the function's name before it. */
export interface FunctionLog extends LogFile {
  /** Takes output as it comes; lines of one instance stay whole. */
  write(title: string, instance: number, chunk: Buffer): void;
}

/** How a line begins that CloudWatch takes for figures (its embedded metric format), and nobody reads. */
const FIGURES = '{"_aws":';

/**
 * @param path of what functions say
 * @param metricsPath of their figures, which would be nine lines of ten
 */
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
