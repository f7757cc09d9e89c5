import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { parseLogLine, type LogLine } from '../../../infra/local/control/log-line.ts';

/** Gives the lines of a log that came since it was last asked. Begins at its start, whether or not it is there. */
export function logLines(path: string): () => readonly LogLine[] {
  let at = 0;
  let rest = '';
  return () => {
    if (!existsSync(path)) return [];
    const bytes = Buffer.alloc(statSync(path).size - at);
    const file = openSync(path, 'r');
    try {
      at += readSync(file, bytes, 0, bytes.length, at);
    } finally {
      closeSync(file);
    }
    const lines = `${rest}${bytes.toString('latin1')}`.split('\n');
    rest = lines.pop() ?? '';
    return lines.flatMap((line) => parseLogLine(line) ?? []);
  };
}
