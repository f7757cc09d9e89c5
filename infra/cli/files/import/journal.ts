import { hash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ShardHead } from '../../../../shared/contract/datastore.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { writeDurably } from '../write-durably.ts';
import type { End, Position } from './source.ts';

export type Counts = Readonly<Record<End, number>>;

export const NO_COUNTS: Counts = { stored: 0, stored_before: 0, buffered: 0, skipped: 0, rejected: 0 };

const FORMAT = 3;
const SAMPLE_BYTES = 64 * 1024;

interface ImportSubject {
  readonly url: string;
  readonly datastore: string;
  readonly inputs: readonly Fingerprint[];
  readonly reading: Readonly<Record<string, unknown>>;
}

/** The progress of an import. Recorded results are on disk; later work is repeated, which changes nothing. */
export interface Journal extends ImportSubject {
  readonly format: number;
  /** By source, without those that have not begun. */
  readonly positions: Readonly<Record<string, Position>>;
  readonly counts: Counts;
  /** How many cells the datastore got at least: those of a stored transaction may have been there, but for one. */
  readonly least_stored: number;
  /** The bytes of the rejects file that belong to recorded work. */
  readonly rejects_bytes: number;
  /** The rejects file. Missing before the import has begun. */
  readonly rejects?: string | undefined;
  /** The datastore's cells when the import began. Missing if a group was unavailable. */
  readonly cells_before?: number | undefined;
  readonly complete: boolean;
  readonly at: string;
}

export function newJournal(subject: ImportSubject): Journal {
  return {
    format: FORMAT,
    ...subject,
    positions: {},
    counts: NO_COUNTS,
    least_stored: 0,
    rejects_bytes: 0,
    complete: false,
    at: new Date().toISOString(),
  };
}

export type Fingerprint = Awaited<ReturnType<typeof fingerprint>>;

/** Samples a file. Throws `bad_input` if it is not a file. */
export async function fingerprint(path: string) {
  let file;
  try {
    file = await open(path, 'r');
  } catch (cause) {
    throw new FilesError('bad_input', `input: wanted a file that can be read, got ${path}: ${String(cause)}`, {
      cause,
    });
  }
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new FilesError('bad_input', `input: wanted a file, got ${path}, which is not a file`);
    const sample = Buffer.alloc(2 * SAMPLE_BYTES);
    const first = await file.read(sample, 0, SAMPLE_BYTES, 0);
    const last = await file.read(sample, first.bytesRead, SAMPLE_BYTES, Math.max(0, status.size - SAMPLE_BYTES));
    const bytes = sample.subarray(0, first.bytesRead + last.bytesRead);
    return {
      path: resolve(path),
      size: status.size,
      changed_ms: Math.floor(status.mtimeMs),
      sample: hash('sha256', bytes, 'hex'),
    };
  } finally {
    await file.close();
  }
}

/** Reads an import's journal; undefined without one. Throws `changed_input`, `other_import`, `bad_journal`. */
export async function readJournal(path: string, subject: ImportSubject): Promise<Journal | undefined> {
  const text = await readIfThere(path);
  if (text === undefined) return undefined;
  const journal = parse(path, text);
  if (!isDeepStrictEqual(journal.inputs, subject.inputs)) {
    const changed = subject.inputs.find((input, position) => !isDeepStrictEqual(input, journal.inputs[position]));
    throw new FilesError(
      'changed_input',
      `${changed?.path ?? 'the input'}: wanted the file as it was when its import began (${path}), got one that was changed since. ${FIX}`,
    );
  }
  for (const what of ['url', 'datastore', 'reading'] as const) {
    if (isDeepStrictEqual(journal[what], subject[what])) continue;
    // It stored nothing, so it may start with other options.
    if (what === 'reading' && !journal.complete && isNew(journal)) return undefined;
    const [wanted, got] = [journal[what], subject[what]].map((value) => JSON.stringify(value));
    throw new FilesError(
      'other_import',
      `${what}: wanted ${wanted}, as when this import began (${path}), got ${got}. ${FIX}; --journal names another file`,
    );
  }
  return journal;
}

/** Returns the journal if its datastore has no fewer cells now: logs only grow. Throws `other_import`. */
export function ofThisDatastore(journal: Journal, heads: readonly ShardHead[]): Journal {
  let cells = 0;
  for (const head of heads) {
    if (head.error !== undefined) return journal;
    cells += head.head;
  }
  const wanted = (journal.cells_before ?? 0) + journal.least_stored;
  if (cells >= wanted)
    return journal.cells_before === undefined && isNew(journal) ? { ...journal, cells_before: cells } : journal;
  throw new FilesError(
    'other_import',
    `datastore: wanted the ${wanted} cells or more that ${journal.datastore} had by the journal, got ${cells}: it was recreated, or a lost writer is being restored. ${FIX}`,
  );
}

function isNew({ positions }: Journal): boolean {
  return Object.keys(positions).length === 0;
}

/** Returns whether the journal's import wrote this file of rejects. */
export async function knowsRejects(journalPath: string | undefined, rejectsPath: string): Promise<boolean> {
  const text = journalPath === undefined ? undefined : await readIfThere(journalPath);
  if (journalPath === undefined || text === undefined) return false;
  const { rejects } = parse(journalPath, text);
  return rejects === undefined || rejects === resolve(rejectsPath);
}

/** Writes the journal, and returns once it is on disk. */
export async function writeJournal(path: string, journal: Journal): Promise<void> {
  await writeDurably(path, `${JSON.stringify({ ...journal, at: new Date().toISOString() })}\n`);
}

const FIX = '--restart starts again: stored cells stay unchanged';

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(path: string, text: string): Journal {
  try {
    const journal = JSON.parse(text) as Journal;
    if (journal.format === FORMAT) return journal;
  } catch {
    // Reported below.
  }
  throw new FilesError('bad_journal', `${path}: wanted a journal of format ${FORMAT}, got something else; remove it`);
}
