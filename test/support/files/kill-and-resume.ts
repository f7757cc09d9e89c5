import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import type { Cell } from '../../../shared/cell.ts';
import { CommandProcess, type CommandEnd } from './command-process.ts';

interface Run {
  readonly url: string;
  readonly datastore: string;
}

interface Resumed {
  /** How often it was killed while it ran. */
  readonly kills: number;
  /** The end of the last run, which was not killed. */
  readonly last: CommandEnd;
  readonly peakBytes: number;
  /** Of all runs, each with its start. */
  readonly seconds: number;
}

/** Imports a file, and kills the import each time that another part of the cells is stored; then lets it end. */
export async function importKilled(
  { url, datastore }: Run,
  { path, cells, kills }: { readonly path: string; readonly cells: number; readonly kills: number },
): Promise<Resumed> {
  const client = schemalessClient({ url, datastore });
  return killed(
    () => new CommandProcess(url, datastore, ['import', path]),
    Array.from(
      { length: kills },
      (_, position) => async () => (await storedCells(client)) >= ((position + 1) * cells) / (kills + 1),
    ),
  );
}

/** Exports, and kills the export when it has a plan, and then each time that another part of the files is complete. */
export async function exportKilled(
  { url, datastore }: Run,
  { folder, kills }: { readonly folder: string; readonly kills: number },
): Promise<Resumed> {
  let before = -1;
  const hasMore = (): boolean => {
    const names = namesIn(join(folder, 'part-0001'));
    const complete = names.filter((name) => !name.startsWith('_')).length;
    if (names.length === 0 || complete <= before) return false;
    before = complete;
    return true;
  };
  return killed(
    () => new CommandProcess(url, datastore, ['export', folder]),
    Array.from({ length: kills }, () => hasMore),
  );
}

async function killed(
  start: () => CommandProcess,
  whens: readonly (() => boolean | Promise<boolean>)[],
): Promise<Resumed> {
  let [kills, peakBytes, seconds] = [0, 0, 0];
  const count = (end: CommandEnd): CommandEnd => {
    peakBytes = Math.max(peakBytes, end.peakBytes);
    seconds += end.seconds;
    return end;
  };
  for (const when of whens) {
    const process = start();
    if (await process.killWhen(when)) kills += 1;
    count(await process.ended);
  }
  return { kills, last: count(await start().ended), peakBytes, seconds };
}

async function storedCells(client: SchemalessClient): Promise<number> {
  const heads = await client.heads();
  return heads.reduce((sum, head) => sum + ('head' in head ? head.head : 0), 0);
}

/** All cells of all logs, shard by shard, in their order. */
export async function* allCells(client: SchemalessClient): AsyncGenerator<Cell> {
  for (const { shard } of await client.heads()) {
    let after = 0;
    for (let more = true; more;) {
      const [log] = await client.log([{ shard, after }], { limit: 1000 });
      if (!log || log.error !== undefined) throw log?.error ?? new Error(`no log of shard ${shard}`);
      yield* log.cells;
      ({ next: after, more } = log);
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
