import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { NewCell } from '../../../shared/cell.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { putAll } from '../../../shared/client/put-all.ts';
import { writeFiles } from '../../infra/support/write-files.ts';
import { comes, until } from '../../support/until.ts';
import { check, grouped, noneOf, sumOf, type Check, type FaultRun, type RunWorld, type Share } from '../fault-run.ts';
import { DEFINITIONS, FORGOTTEN, INDEX, rowOf, SHARDS, visitOf, type Written } from './clinic.ts';
import { changeBody, deleteEntries, disturb, forgetAll, killWriter, takeOut, type Disturbed } from './disturbances.ts';
import { startProduct } from '../stack-program.ts';
import { WholeStack, type IndexVerdict } from '../whole-stack.ts';
import { leftIn, placesLine, requireReadable, searchFiles, sumIn } from './marks.ts';
import { changed, entriesOf, holesOf, takePicture, type Picture } from './picture.ts';

const ROWS = 1000;
const SUBJECTS = 100;
/** Fewer groups would buffer no write. */
const GROUPS = 3;
/** Copies of buffered writes are kept after the drain: more places with bodies. */
const KEEP_MINUTES = 60;
/** Subjects that are not forgotten: their sealed fields are read in the end. */
const OTHERS = 20;
const VISITS = 3;
const PATIENCE_MS = 240_000;

export const forgettingRun: FaultRun = {
  name: 'forgetting',
  promise:
    'No read, queue, state, log or export has a byte of an erased body. No file, not even a backup, has a byte sealed for forgotten subjects. Logs, digests and indexes keep all other data',
  fault: `a whole local stack under load: ${grouped(ROWS)} rows erased and ${SUBJECTS} subjects forgotten under repeated writes; a writer killed, buffers drained, shards moved, an index repaired, a trigger rewound`,
  control: 'fields next to sealed ones, and other subjects; a cell and an entry changed past the store',
  alone: true,

  async run(world) {
    requireReadable();
    const datastores = writeFiles(join(world.folder, 'datastores'), DEFINITIONS);
    const flags = { datastores, groups: GROUPS, 'server-size': 'small', 'keep-copies': KEEP_MINUTES };
    await using stack = await WholeStack.start(world, 'stack', () => startProduct(world, 'stack', flags), FORGOTTEN);
    const written = await write(world, stack);
    const first = await firstPicture(stack, written);
    const { answers, ...disturbed } = await forgetAmidDisturbances(world, stack, written, first);
    const exports = join(world.folder, 'export');
    const { code, stderr } = await stack.command('export', exports, '--compression', 'none');
    if (code !== 0) throw new Error(`export ended with ${code}: ${stderr}`);
    const after = await searchFiles(stack.data, exports);
    world.say(`of what was erased: ${placesLine(after.erased)}`);
    const now = await takePicture(stack.client(), written, first);
    const index = shareOf(await stack.verifyInTheEnd(INDEX, PATIENCE_MS));
    const entryGone = await withoutEntry(stack, written);
    const read = await readAll(stack, written, disturbed);
    const spoiled = { entryGone, ...(await spoil(stack, written, first)) };
    return {
      checks: [
        noneFound(
          'marks of erased bodies in queues, state, logs of the store and its export; control: of what was not erased',
          leftIn(after.erased),
          leftIn(after.kept),
        ),
        noneFound(
          'marks of what was sealed for forgotten subjects, in all files; control: of what stands next to it',
          sumIn(after.forgotten),
          sumIn(after.kept),
        ),
        noneOf('erased cells that are read', ROWS, read.erased, read.kept),
        noneOf('visits of forgotten subjects that are read; control: of others', SUBJECTS, read.forgotten, read.sealed),
        noneOf(
          'cells of other rows, or sealed ones of other subjects, lost; control: those that were erased',
          1000,
          read.lost,
          { wrong: read.erased.of - read.erased.wrong, of: read.erased.of },
        ),
        noneOf(
          'index entries missing, extra or wrong in the end; control: once some were deleted, past the store',
          500,
          index,
          read.spoiledIndex,
        ),
        ...picturesCompared(first, now, spoiled),
      ],
      cells: written.erased.length + written.visits.length + disturbed.kept.length,
      notes: [
        `answers to ${grouped(ROWS)} erasures: ${grouped(answers.erased)} done, ${grouped(answers.erasing)} not yet; ${disturbed.moves} shards moved, ${disturbed.rewinds} rewinds asked for, ${disturbed.repairs} repairs that fixed ${grouped(disturbed.repaired)}, ${disturbed.kills} kills`,
        `erased: ${placesLine(after.erased)}`,
        ...after.files,
        `sealed, of forgotten subjects: ${placesLine(after.forgotten)}; of others: ${placesLine(after.sealed)}`,
        `kept: ${placesLine(after.kept)}`,
      ],
    };
  },
};

function noneFound(what: string, found: number, control: number): Check {
  return check<number>({ what, bar: '0', result: grouped, holds: (marks) => marks === 0 }, found, control);
}

/** Takes the picture that must not change, once all written cells are in the logs, and in the index. */
async function firstPicture(stack: WholeStack, written: Written): Promise<Picture> {
  const cells = sumOf([written.erased, written.kept, written.visits, written.others].map(({ length }) => length));
  const areThere = async (): Promise<boolean> =>
    sumOf((await stack.client().heads()).map((shard) => ('head' in shard ? shard.head : 0))) === cells;
  const patience = { patienceMs: PATIENCE_MS, pollMs: 1000, signal: stack.world.signal };
  await until('all cells are in their logs', areThere, patience);
  await stack.verifyInTheEnd(INDEX, PATIENCE_MS);
  return takePicture(stack.client(), written);
}

/** The pictures after single changes past the store that no erasure may make to other rows. */
interface Spoiled {
  readonly entryGone: Pick<Picture, 'entries'>;
  readonly bodyChanged: Picture;
  readonly cellGone: Picture;
}

/** Runs before any other entry is deleted. */
async function withoutEntry(stack: WholeStack, written: Written): Promise<Pick<Picture, 'entries'>> {
  await deleteEntries(stack.groups, keptCell(written, 0).row_key);
  return { entries: await entriesOf(stack.client(), written) };
}

/** Changes a body first, so that its log stays as long: holes and ends of logs are not tested. */
async function spoil(stack: WholeStack, written: Written, first: Picture): Promise<Omit<Spoiled, 'entryGone'>> {
  await changeBody(stack.groups, keptCell(written, 1));
  const bodyChanged = await takePicture(stack.client(), written, first);
  await takeOut(stack.groups, keptCell(written, 2));
  return { bodyChanged, cellGone: await takePicture(stack.client(), written, first) };
}

function keptCell({ kept }: Written, position: number): NewCell {
  const cell = kept[position];
  if (!cell) throw new Error(`wanted a kept cell at ${position}, got ${kept.length} cells`);
  return cell;
}

function picturesCompared(first: Picture, now: Picture, { bodyChanged, cellGone, entryGone }: Spoiled): Check[] {
  return [
    noneOf(
      'digests of logs, up to where they were before, that are others; control: a body changed',
      SHARDS,
      changed(first.digests, now.digests),
      changed(now.digests, bodyChanged.digests),
    ),
    noneOf(
      'places of logs that have another cell than before, or time, or of rows that are not erased another body as it is stored; control: a body changed',
      1000,
      changed(first.places, now.places),
      changed(now.places, bodyChanged.places),
    ),
    noneOf(
      'places of logs, up to their ends, without a cell; control: one taken out',
      1000,
      holesOf(now),
      holesOf(cellGone),
    ),
    noneOf(
      'answers of indexes about rows that are not erased, and other subjects, that are others; control: an entry taken out',
      200,
      changed(first.entries, now.entries),
      changed(now.entries, entryGone.entries),
    ),
  ];
}

async function write(world: RunWorld, stack: WholeStack): Promise<Written> {
  const subjects = Array.from({ length: SUBJECTS }, () => randomUUID());
  const visitsOf = (patients: readonly string[], fate: 'forgotten' | 'sealed'): readonly NewCell[] =>
    patients.flatMap((patient) => Array.from({ length: VISITS }, () => visitOf(patient, fate)));
  const others = Array.from({ length: OTHERS }, () => randomUUID());
  const written = {
    erased: Array.from({ length: ROWS }, () => rowOf('erased')).flat(),
    kept: Array.from({ length: 200 }, () => rowOf('kept')).flat(),
    visits: visitsOf(subjects, 'forgotten'),
    subjects,
    others: visitsOf(others, 'sealed'),
  };
  world.say(`${grouped(ROWS)} rows and ${SUBJECTS} subjects are written`);
  const cells = [...written.kept, ...written.others, ...written.visits, ...written.erased];
  await storeAll(stack, cells.slice(0, cells.length / 2));
  await killWriter(stack, 0);
  await storeAll(stack, cells.slice(cells.length / 2));
  await stack.untilAllRun();
  await stack.control('snapshot', 'before');
  return written;
}

async function storeAll(stack: WholeStack, cells: readonly NewCell[]): Promise<void> {
  await putAll(stack.client(), cells, { tries: 30 });
}

async function forgetAmidDisturbances(
  world: RunWorld,
  stack: WholeStack,
  written: Written,
  { heads }: Picture,
): Promise<Disturbed & { readonly answers: Awaited<ReturnType<typeof forgetAll>> }> {
  const ending = new AbortController();
  const disturbing = disturb(world, stack, written, heads, ending.signal);
  const answers = await forgetAll(world, stack, written).finally(() => ending.abort());
  const disturbed = await disturbing;
  await stack.untilAllRun();
  const operations = stack.client();
  world.say('waiting until no erasure is open');
  const isDone = async (): Promise<boolean> => (await operations.listErasures({ open: true })).erasures.length === 0;
  if (!(await comes(isDone, { patienceMs: PATIENCE_MS, pollMs: 1000, signal: world.signal })))
    throw new Error('erasures are open');
  return { ...disturbed, answers };
}

/** Reads as a client in the end, and again after some index entries were deleted. */
async function readAll(stack: WholeStack, written: Written, disturbed: Disturbed) {
  const client = stack.client();
  /** Counts the reads whose bodies match. */
  const countOf = async (
    cells: readonly NewCell[],
    isSo: (body: unknown, cell: NewCell) => boolean,
  ): Promise<Share> => {
    const items = await getAll(client, cells);
    const wrong = items.filter((item, at) => {
      const cell = cells[at];
      return cell !== undefined && item !== null && 'body' in item && isSo(item.body, cell);
    }).length;
    return { wrong, of: cells.length };
  };
  const hasName = (body: unknown): boolean => Object(body).name !== null || Object(body).contact?.mail !== null;
  const isSame = (body: unknown, cell: NewCell): boolean =>
    body !== null && Object(body).mark === Object(cell.body).mark && Object(body).name === Object(cell.body).name;
  const same = await countOf([...written.kept, ...disturbed.kept, ...written.others], isSame);
  await deleteEntries(stack.groups);
  const spoiledIndex = shareOf(await stack.verify(INDEX));
  return {
    erased: await countOf(written.erased, (body) => body !== null),
    kept: await countOf(written.kept, (body) => body !== null),
    forgotten: await countOf(written.visits, hasName),
    sealed: await countOf(written.others, hasName),
    lost: { wrong: same.of - same.wrong, of: same.of },
    spoiledIndex,
  };
}

const shareOf = ({ problems, rows }: IndexVerdict): Share => ({ wrong: problems, of: rows });
