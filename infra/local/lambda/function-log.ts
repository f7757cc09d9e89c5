import { createWriteStream, renameSync, statSync } from 'node:fs';

/** The one file that all functions write into, a line each with the function's name before it. */
export interface FunctionLog {
  readonly path: string;
  /** Takes output as it comes; lines of one instance stay whole. */
  write(title: string, instance: number, chunk: Buffer): void;
  line(title: string, text: string): void;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;
/** Then the file is set aside, in place of the one set aside before. */
const MAX_BYTES = 64 * MIB;

export function openFunctionLog(path: string): FunctionLog {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) renameSync(path, `${path}.1`);
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  const unfinished = new Map<string, string>();
  const line = (title: string, text: string): void =>
    void stream.write(`${new Date().toISOString()} ${title} ${text}\n`);
  return {
    path,
    line,
    write(title, instance, chunk) {
      const key = `${title} ${instance}`;
      const lines = `${unfinished.get(key) ?? ''}${chunk.toString()}`.split('\n');
      unfinished.set(key, lines.pop() ?? '');
      for (const text of lines) line(title, text);
    },
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}
