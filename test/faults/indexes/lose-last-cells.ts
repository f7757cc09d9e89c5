import type { NewCell } from '../../../shared/cell.ts';
import { shardOf } from '../../../shared/address.ts';
import { killWithDisk, stopReceiving } from '../../support/nodes.ts';
import { openStore, type DatastoreAccess, type OpenStore } from '../../support/store-access.ts';
import { raceRows, RacingCells } from './racing-cells.ts';
import type { Stage } from '../stage.ts';
import { vary, type Variation } from './variation.ts';
import { inChunks } from '../../support/parallel.ts';
import { addressAlone } from '../row-keys.ts';

export interface LossOptions {
  readonly access: DatastoreAccess;
  readonly group: string;
  readonly variation: Variation;
}

/** The repair has followed the first of the lost cells by then, and the last of them not. */
const FOLLOWED_MS = 6000;
const SIDE_BY_SIDE = 8;
/** Versions of each row before the promotion, and after it. */
const LOST_VERSIONS = 2;
const NEW_VERSIONS = 1;

/**
 * A group's reader stops receiving, the writer goes on and dies with its disk, and the reader is promoted: cells, and
 * entries of other rows, are gone. Then half of the rows are written again, so that new cells take the added ids of
 * lost ones.
 *
 * @returns how many cells were lost
 * @throws Error when none was
 */
export async function loseLastCells(stage: Stage, { access, group, variation }: LossOptions): Promise<number> {
  const { servers } = stage;
  const { seed, say } = stage.world;
  const varied = vary(variation, seed);
  // Without copies in the buffer, which would bring every cell back.
  await using uncopied = await openStore({ ...access, bufferCopies: 0 }, { wrap: varied.wrap });
  const cells = new RacingCells(seed, 0, Date.now() - 3_600_000);
  const rows = raceRows(seed);
  const isEarly = (row: string): boolean =>
    Math.floor(shardOf(row, uncopied.datastore.shards) / servers.groups.length) % 2 === 0;

  await stopReceiving(servers, group);
  const early = await write(uncopied, rows.filter(isEarly), cells, LOST_VERSIONS);
  await stage.wait(FOLLOWED_MS);
  const lateRows = rows.filter((row) => !isEarly(row));
  const late = await write(uncopied, lateRows, cells, LOST_VERSIONS);
  const writer = await killWithDisk(stage.cluster, group);
  await servers.promote(group);

  const lost = await countMissing(uncopied, [...early, ...late]);
  if (lost === 0) throw new Error(`${group} lost no cell`);
  say(`${writer} died with its disk; the promoted reader lacks ${lost} cells`);
  await using store = await openStore(access, { wrap: varied.wrap });
  // The others keep what the promotion left them.
  const rewritten = rows.filter((_, position) => position % 2 === 0);
  await write(store, rewritten, cells, NEW_VERSIONS);
  await varied.idle();
  await stage.untilAllRun();
  return lost;
}

/** Writes versions of rows, and returns those that were stored. */
async function write(
  { datastore }: OpenStore,
  rows: readonly string[],
  source: RacingCells,
  versions: number,
): Promise<NewCell[]> {
  const queue = Array.from({ length: versions }, () => rows).flat();
  const stored: NewCell[] = [];
  await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, async () => {
      for (let row = queue.pop(); row !== undefined; row = queue.pop()) {
        const cell = source.of(row);
        const { outcome } = await datastore.put(cell);
        if (outcome === 'stored') stored.push(cell);
      }
    }),
  );
  return stored;
}

async function countMissing({ datastore }: OpenStore, cells: readonly NewCell[]): Promise<number> {
  let missing = 0;
  for (const page of inChunks(cells.map(addressAlone), 100))
    missing += (await datastore.batchGet(page)).filter((item) => item === null).length;
  return missing;
}
