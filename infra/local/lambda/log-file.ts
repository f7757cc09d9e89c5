import { createWriteStream, renameSync, statSync } from 'node:fs';

export interface LogFile {
  readonly path: string;
  line(title: string, text: string): void;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;
/** A start rotates a larger file. */
const MAX_BYTES = 64 * MIB;

export function setAside(path: string): string {
  return `${path}.1`;
}

export function openLogFile(path: string): LogFile {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) renameSync(path, setAside(path));
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  return {
    path,
    line: (title, text) => void stream.write(`${new Date().toISOString()} ${title} ${text}\n`),
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}
