import { join } from 'node:path';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import type { Json } from '../../../shared/cell.ts';
import { shardDatabase } from '../../../shared/address.ts';
import { Random } from '../../support/random.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { DATASTORE } from '../../support/store-access.ts';
import { until } from '../../support/until.ts';
import { Stage } from '../stage.ts';
import { damageBodies, damagePages } from './damage-pages.ts';
import { readKnown, writeKnown, type Readings } from './known-cells.ts';

/** What reads of damaged cells said; each with its control. */
export interface DamagedCells {
  readonly engine: string;
  readonly pages: Readings;
  /** The same damage, with checksums that fit. */
  readonly fittedPages: Readings;
  readonly bodies: Readings;
  /** The same damage to bodies that are stored as they are, without a checksum of their own. */
  readonly plainBodies: Readings;
  /** Servers that ended while damaged pages were read. */
  readonly deaths: number;
}

const CELLS = 1800;
/** A server that dies of a damaged page does so each time; it has been seen by then. */
const MOST_DEATHS = 5;
/** Of one shard, whose bodies are changed. */
const DAMAGED_BODIES = 600;
/** Long enough for the pages to be damaged meanwhile, and then for every server that dies of them. */
const RESTART_SECONDS = 2;
/** A server that finds a page damaged may take long, or for ever, to print where it was. */
const NO_STACK_TRACE = ['--skip-stack-trace'];
const NODE = 'group-1-a';
/** In every body; too short, and too mixed with what is drawn at random, for zlib to gain anything. */
const MARK = 'damage';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_';
const STOP_MS = 60_000;
const POLL_MS = 20;
/** A shard for each kind of damage. */
const SHARD = { pages: 0, fittedPages: 1, bodies: 2, plainBodies: 3 } as const;

/** Damages tables of a server that is stopped, and bodies of one that runs, and reads all cells. */
export async function damageCells(world: RunWorld): Promise<DamagedCells> {
  const { seed, signal, say } = world;
  // No reader, which would answer in the writer's place; nor breakers, which would not even ask the writer.
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
  for (const shard of [SHARD.bodies, SHARD.plainBodies])
    await damageBodies({ groups: access.groups, shard, count: DAMAGED_BODIES, seed });

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
  return { engine: stage.engine, pages, fittedPages, bodies, plainBodies, deaths };
}

/** A clean stop, as an operator would do it: everything is in the tables' files then. */
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
