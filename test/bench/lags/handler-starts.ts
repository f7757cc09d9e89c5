import { open } from 'node:fs/promises';
import type { CellAddress } from '../../../shared/cell.ts';

/** The times at which the trigger's function started for cells. */
interface HandlerStarts {
  /** Reads new log lines. */
  read(): Promise<void>;
  /** Returns when it first started for a BASE cell, in milliseconds since 1970; undefined if unknown. */
  startOf(cell: Pick<CellAddress, 'row_key' | 'ref_key'>): number | undefined;
}

/** The first log message of `bill_rider`. */
const MARK = '"message":"billing"';
const CHUNK = 1024 * 1024;

/** Reads the starts that are logged from now on in the functions' log on this machine. */
export async function startsInLog(path: string): Promise<HandlerStarts> {
  const starts = new Map<string, number>();
  let at = await sizeOf(path);
  let unfinished = '';
  const take = (line: string): void => {
    if (!line.includes(MARK)) return;
    const { row_key, ref_key, started_at } = JSON.parse(line.slice(line.indexOf('{')));
    const key = `${row_key}/${ref_key}`;
    if (!starts.has(key)) starts.set(key, started_at);
  };
  return {
    async read() {
      await using file = await open(path, 'r');
      const chunk = Buffer.alloc(CHUNK);
      const decoder = new TextDecoder();
      for (;;) {
        const { bytesRead } = await file.read(chunk, 0, CHUNK, at);
        if (bytesRead === 0) break;
        at += bytesRead;
        const lines = `${unfinished}${decoder.decode(chunk.subarray(0, bytesRead), { stream: true })}`.split('\n');
        unfinished = lines.pop() ?? '';
        for (const line of lines) take(line);
      }
    },
    startOf: ({ row_key, ref_key }) => starts.get(`${row_key}/${ref_key}`),
  };
}

async function sizeOf(path: string): Promise<number> {
  await using file = await open(path, 'r');
  return (await file.stat()).size;
}
