import { join } from 'node:path';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import { shardDatabase } from '../../../shared/address.ts';
import { equalJson } from '../../../shared/body/equal.ts';
import type { Json, NewCell } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { Random } from '../../support/random.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { DATASTORE } from '../../support/store-access.ts';
import { until } from '../../support/until.ts';
import { baseCell, rowKeyIn } from '../row-keys.ts';
import { Stage } from '../stage.ts';
import { damageBodies, damagePages } from './damage-pages.ts';

const CELLS = 1800;
/** A server that dies of a damaged page does so each time: more deaths show nothing new. */
const MOST_DEATHS = 5;
const DAMAGED_BODIES = 600;
/** Long enough to damage the pages, and then for every server that dies of them. */
const RESTART_SECONDS = 2;
/** A server that finds a damaged page may take very long to print a stack trace. */
const NO_STACK_TRACE = ['--skip-stack-trace'];
const NODE = 'group-1-a';
/** Part of every body; too short, and too mixed with random text, for zlib to gain anything. */
const MARK = 'damage';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_';
const STOP_MS = 60_000;
const POLL_MS = 20;
const SHARD = { pages: 0, fittedPages: 1, bodies: 2, plainBodies: 3 } as const;

/**
 * Damages tables of a stopped server and bodies of a running one, and reads all cells. Repeats the damage with fitted
 * page checksums, and on bodies without a checksum of their own. Counts the servers that died of it.
 */
export async function damageCells(world: RunWorld) {
  const { seed, signal, say } = world;
  // No reader, which would answer for the writer; no circuit breakers, which would not even ask the writer.
  await using stage = await Stage.start(world, 'damage/cells', {
    groups: 1,
    readers: 0,
    shards: Object.keys(SHARD).length,
    bufferCopies: 0,
    restartAfterSeconds: RESTART_SECONDS,
    extraArguments: NO_STACK_TRACE,
  });
  const { access, servers } = stage;
  const { datastore } = await stage.open({ isGuarded: false, sql: {} });
  const random = new Random(seed, 'bodies', 0);
  const write = (shard: number, body: () => Json) =>
    writeKnown(datastore, shard, Array.from({ length: CELLS }, body), seed);
  const short = (): Json => ({ note: MARK + letters(random, 18) });
  const cells = {
    pages: await write(SHARD.pages, short),
    fittedPages: await write(SHARD.fittedPages, short),
    bodies: await write(SHARD.bodies, () => ({ note: `${MARK} ${letters(random, 6).repeat(20)}` })),
    plainBodies: await write(SHARD.plainBodies, short),
  };
  for (const shard of [SHARD.bodies, SHARD.plainBodies]) await damageBodies(access.groups, shard, DAMAGED_BODIES, seed);

  await stop(servers, signal);
  const file = (shard: number): string =>
    join(stage.cluster.folder, 'servers', 'groups', NODE, 'data', shardDatabase(DATASTORE, shard), 'entity.ibd');
  const damage = { engine: servers.engine.kind, seed, mark: MARK } as const;
  damagePages({ ...damage, file: file(SHARD.pages), letters: 3, whole: 2, fit: false });
  damagePages({ ...damage, file: file(SHARD.fittedPages), letters: 5, whole: 0, fit: true });
  await stage.untilAllRun();
  say('pages and bodies are damaged, the server runs again; reading all cells');

  let deaths = 0;
  const refused = async (): Promise<boolean> => {
    // An answer and the end of a process come by different ways.
    await stage.wait(POLL_MS);
    if (servers.status().every(({ state }) => state === 'running')) return true;
    deaths += 1;
    await stage.untilAllRun();
    return deaths < MOST_DEATHS;
  };
  const read = (kind: keyof typeof SHARD): Promise<Readings> =>
    readKnown({ datastore, shard: SHARD[kind], cells: cells[kind], refused });
  const [bodies, plainBodies] = [await read('bodies'), await read('plainBodies')];
  const [fittedPages, pages] = [await read('fittedPages'), await read('pages')];
  return { pages, fittedPages, bodies, plainBodies, deaths };
}

/** Stops the servers cleanly, as an operator would: everything is then in the tables' files. */
async function stop(servers: ShardGroups, signal: AbortSignal): Promise<void> {
  const [node] = servers.status();
  process.kill(node?.pid ?? 0, 'SIGTERM');
  await until(`${NODE} is down`, () => servers.status()[0]?.state === 'down', {
    pollMs: POLL_MS,
    patienceMs: STOP_MS,
    signal,
  });
}

function letters(random: Random, length: number): string {
  return Array.from({ length }, () => LETTERS[random.integer(0, LETTERS.length - 1)]).join('');
}

interface ReadOptions {
  readonly datastore: Pick<Datastore, 'log' | 'get'>;
  readonly shard: number;
  /** The cells in the order of their added ids, which begin at 1. */
  readonly cells: readonly NewCell[];
  /** Called after each read refused as a whole, of which the server may have died. Returns whether to read on. */
  readonly refused: () => Promise<boolean>;
}

const BATCH = 100;
/** The cells in one read of the log: a small part of a page. */
const STEP = 10;
/** The cells after a read refused as a whole: the rest of the page would be refused too, and may kill servers. */
const STRIDE = 30;
/** Every nth cell is also read by its address. */
const BY_ADDRESS = 5;

async function writeKnown(
  datastore: Datastore,
  shard: number,
  bodies: readonly Json[],
  seed: string,
): Promise<readonly NewCell[]> {
  const random = new Random(seed, 'known cells', shard);
  const shards = new Set([shard]);
  const cells = bodies.map((body) => baseCell(rowKeyIn(random, shards, datastore.shards), body));
  for (let start = 0; start < cells.length; start += BATCH) {
    const results = await datastore.batchPut(cells.slice(start, start + BATCH));
    if (!results.every((result, position) => result.outcome === 'stored' && result.added_id === start + position + 1))
      throw new Error(`cells were not stored at their turn: ${JSON.stringify(results[0])}`);
  }
  return cells;
}

export type Readings = Awaited<ReturnType<typeof readKnown>>;

async function readKnown({ datastore, shard, cells, refused }: ReadOptions) {
  const counts = { reads: 0, refused: 0, wrong: 0 };
  const codes = new Set<string>();
  const refuse = (code: string, times = 1): void => {
    codes.add(code);
    counts.reads += times;
    counts.refused += times;
  };
  const judge = (found: Found | null | undefined, cell: NewCell): void => {
    if (found?.error) return refuse(found.error.code);
    counts.reads += 1;
    if (found?.row_key !== cell.row_key || !equalJson(found.body, cell.body)) counts.wrong += 1;
  };
  const readings = () => ({ ...counts, codes: [...codes] });

  for (let start = 0; start < cells.length; start += STEP) {
    const wanted = cells.slice(start, start + STEP);
    const [log] = await datastore.log([{ shard, after: start }], { limit: STEP });
    if (!log || log.error) {
      refuse(log?.error?.code ?? 'nothing', wanted.length);
      start += STRIDE - STEP;
      if (!(await refused())) break;
      continue;
    }
    for (const [position, cell] of wanted.entries()) judge(log.cells[position], cell);
    for (const cell of wanted.filter((_, position) => position % BY_ADDRESS === 0)) {
      try {
        judge((await datastore.get(cell)).cell, cell);
      } catch (error) {
        refuse(error instanceof Error && 'code' in error ? String(error.code) : String(error));
        if (!(await refused())) return readings();
      }
    }
  }
  return readings();
}

interface Found extends Pick<NewCell, 'row_key' | 'body'> {
  readonly error?: { readonly code: string };
}
