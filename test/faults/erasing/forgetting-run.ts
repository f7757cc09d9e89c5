import { randomUUID } from 'node:crypto';
import type { NewCell } from '../../../shared/cell.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { putAll } from '../../../shared/client/put-all.ts';
import { comes, until } from '../../support/until.ts';
import { check, grouped, noneOf, sumOf, type Check, type FaultRun, type RunWorld, type Share } from '../fault-run.ts';
import type { IndexVerdict } from '../soak/verify-index.ts';
import { INDEX, rowOf, SHARDS, visitOf, type Written } from './clinic.ts';
import { changeBody, deleteEntries, disturb, forgetAll, takeOut, type Disturbed } from './disturbances.ts';
import { ForgettingStack } from './forgetting-stack.ts';
import { lineOfDriver, loggedIn, nothingLogged, searchLogs } from './logged.ts';
import { leftIn, logsIn, placesLine, requireReadable, searchFiles, sumIn } from './marks.ts';
import { changed, entriesOf, holesOf, takePicture, type Picture } from './picture.ts';
import { watchOffsets, wentBack } from './trigger-offsets.ts';

const ROWS = 1000;
const SUBJECTS = 100;
/** That are not forgotten: what is sealed of theirs is read in the end. */
const OTHERS = 20;
const VISITS = 3;
const PATIENCE_MS = 240_000;

export const forgettingRun: FaultRun = {
  name: 'forgetting',
  promise:
    'No read, queue, state, log or export has a byte of what was erased; no file, not even a backup, has a byte of what was sealed for forgotten subjects; logs, digests and indexes have all others as they were',
  fault: `a whole local stack: ${grouped(ROWS)} rows erased and ${SUBJECTS} subjects forgotten under load, while their writes are repeated, a writer is killed and its buffers drained, shards move and are locked, an index is repaired and a trigger rewound`,
  control: 'what is next to it, or was not forgotten; a cell and an entry changed past the store',
  alone: true,

  async run(world) {
    requireReadable();
    await using stack = await ForgettingStack.start(world);
    const written = await write(world, stack);
    const first = await firstPicture(stack, written);
    const ending = new AbortController();
    using ends = new DisposableStack();
    ends.defer(() => ending.abort());
    const watching = watchOffsets(stack.client(), ending.signal);
    const { answers, ...disturbed } = await forgetAmidDisturbances(world, stack, written, first);
    await stack.export();
    const after = await searchFiles(stack.data, stack.exports);
    const subjects = new Set(written.visits.concat(written.others).map(({ body }) => String(Object(body).patient)));
    const logged = await searchLogs(logsIn(stack.data), subjects);
    const driver = loggedIn(await lineOfDriver(stack.stack.groups, written.subjects[0] ?? ''), subjects);
    world.say(`of what was erased: ${placesLine(after.erased)}`);
    ending.abort();
    const samples = await watching;
    const now = await takePicture(stack.client(), written, first);
    const index = shareOf(await stack.indexInTheEnd(INDEX));
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
        nothingLogged(logged, driver),
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
        noneOf(
          'offsets of the trigger that went back, from one look to the next, where nobody had rewound it; control: rewinds counted, too',
          1000,
          wentBack(samples, disturbed.rewinds),
          wentBack(samples, []),
        ),
      ],
      cells: written.erased.length + written.visits.length + disturbed.kept.length,
      notes: [
        `answers to ${grouped(ROWS)} erasures: ${grouped(answers.erased)} done, ${grouped(answers.erasing)} not yet; ${disturbed.moves} shards moved, ${disturbed.rewinds.length} rewinds asked for, ${disturbed.repairs} repairs that mended ${grouped(disturbed.mended)}, ${disturbed.kills} kills`,
        `erased: ${placesLine(after.erased)}`,
        ...after.files,
        `sealed, of forgotten subjects: ${placesLine(after.forgotten)}; of others: ${placesLine(after.sealed)}`,
        `kept: ${placesLine(after.kept)}`,
      ],
    };
  },
};

function noneFound(what: string, found: number, control: number): Check {
  return check<number>({ what, bar: '0', figure: grouped, holds: (marks) => marks === 0 }, found, control);
}

/** What is not to change: once all that was written is in its logs, and in the index. */
async function firstPicture(stack: ForgettingStack, written: Written): Promise<Picture> {
  const cells = sumOf([written.erased, written.kept, written.visits, written.others].map(({ length }) => length));
  const areThere = async (): Promise<boolean> =>
    sumOf((await stack.client().heads()).map((shard) => ('head' in shard ? shard.head : 0))) === cells;
  const patience = { patienceMs: PATIENCE_MS, pollMs: 1000, signal: stack.world.signal };
  await until('all cells are in their logs', areThere, patience);
  await stack.indexInTheEnd(INDEX);
  return takePicture(stack.client(), written);
}

/** What is seen once one thing alone was done, past the store, that no erasure may do to other rows. */
interface Spoiled {
  readonly entryGone: Pick<Picture, 'entries'>;
  readonly bodyChanged: Picture;
  readonly cellGone: Picture;
}

/** Before any other entry is deleted. */
async function withoutEntry(stack: ForgettingStack, written: Written): Promise<Pick<Picture, 'entries'>> {
  await deleteEntries(stack.stack.groups, keptCell(written, 0).row_key);
  return { entries: await entriesOf(stack.client(), written) };
}

/** A body first, so that its log goes on as far as before: holes and ends of logs are not what is seen. */
async function spoil(stack: ForgettingStack, written: Written, first: Picture): Promise<Omit<Spoiled, 'entryGone'>> {
  await changeBody(stack.stack.groups, keptCell(written, 1));
  const bodyChanged = await takePicture(stack.client(), written, first);
  await takeOut(stack.stack.groups, keptCell(written, 2));
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

async function write(world: RunWorld, stack: ForgettingStack): Promise<Written> {
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
  await stack.killWriter(0);
  await storeAll(stack, cells.slice(cells.length / 2));
  await stack.untilAllRun();
  await stack.control('snapshot', 'before');
  return written;
}

async function storeAll(stack: ForgettingStack, cells: readonly NewCell[]): Promise<void> {
  const { undone } = await putAll(stack.client(), cells, { tries: 30 });
  if (undone.length > 0) throw new Error(`${undone.length} cells were not written: ${undone[0]?.error.message}`);
}

async function forgetAmidDisturbances(
  world: RunWorld,
  stack: ForgettingStack,
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

/** What a client reads in the end, and once some entries of the index were deleted. */
async function readAll(stack: ForgettingStack, written: Written, disturbed: Disturbed) {
  const client = stack.client();
  /** How many are read whose bodies are so. */
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
  await deleteEntries(stack.stack.groups);
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
