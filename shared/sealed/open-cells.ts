import { PackedBody, unpacked } from '../body/packed-body.ts';
import { packedMember, withPackedMembers, type PackedMember } from '../body/write-message-pack.ts';
import type { Cell, Json } from '../cell.ts';
import { SEALED_KEY, valueAt } from '../definitions/field-value.ts';
import { SchemalessError } from '../errors.ts';
import { overKeys } from './key-store.ts';
import type { Sealing, SealedParts } from './seal-cells.ts';
import { replaceAt, tokenOf, type SealedPath } from './sealed-paths.ts';
import { open, readToken, type Token } from './sealing.ts';
import type { Subjects } from './subject-keyring.ts';

interface SealedBody {
  readonly body: Json;
  readonly sealed: readonly SealedMember[];
}

interface SealedMember {
  readonly at: SealedPath;
  /** Undefined if this version does not know its format. */
  readonly token: Token | undefined;
  /** Its position in a packed body. */
  readonly packed: PackedMember | undefined;
}

/**
 * Opens the sealed fields of some cells. A field of a forgotten subject is null, and listed in `forgotten`. A cell with
 * another field that does not open has an `error` instead of its body. Throws SchemalessError `unavailable` if keys are
 * needed and cannot be reached.
 */
export async function openCells<Read extends Cell>(
  datastore: string,
  parts: Pick<SealedParts, 'paths' | 'known'>,
  cells: readonly Read[],
): Promise<readonly Read[]> {
  const paths = await parts.paths();
  const found = cells.map((cell) => sealedIn(cell, paths.get(cell.column_name)));
  if (found.every((one) => one === undefined)) return cells;
  const opening = await parts.known();
  const known: Subjects = opening ? await subjectsOf(found, opening) : new Map();
  return cells.map((cell, position) => {
    const sealed = found[position];
    return sealed ? openCell(datastore, cell, sealed, known) : cell;
  });
}

/** Returns the subjects of tokens, at once if all are in memory, as most are. */
function subjectsOf(found: readonly (SealedBody | undefined)[], { subjects }: Sealing): Subjects | Promise<Subjects> {
  const names = new Set<string>();
  for (const one of found) for (const { token } of one?.sealed ?? []) if (token) names.add(token.name);
  return subjects.recalled(names) ?? overKeys(() => subjects.known(names));
}

function sealedIn(
  { body: read, erasure, error }: Cell,
  paths: readonly SealedPath[] | undefined,
): SealedBody | undefined {
  if (!paths || read === null || erasure || error) return undefined;
  // Most bodies without a sealed field need not be parsed.
  if (
    read instanceof PackedBody &&
    !Buffer.from(read.bytes.buffer, read.bytes.byteOffset, read.bytes.length).includes(SEALED_KEY)
  )
    return undefined;
  const sealed: SealedMember[] = [];
  for (const at of paths) {
    const packed = read instanceof PackedBody ? packedMember(read, at.steps) : undefined;
    const token = tokenOf(read instanceof PackedBody ? packed?.value : valueAt(read, at.steps));
    if (token !== undefined) sealed.push({ at, token: readToken(token), packed });
  }
  return sealed.length === 0 ? undefined : { body: read, sealed };
}

function openCell<Read extends Cell>(
  datastore: string,
  cell: Read,
  { body, sealed }: SealedBody,
  known: Subjects,
): Read {
  const { row_key, column_name, ref_key } = cell;
  const opened: OpenedMember[] = [];
  const forgotten: string[] = [];
  for (const { at, token, packed } of sealed) {
    const subject = token && known.get(token.name);
    if (!subject)
      return { ...cell, body: null, error: doesNotOpen(cell, at, token ? 'its key is missing' : 'it was damaged') };
    if (!subject.keys) forgotten.push(at.path);
    const place = { datastore, row_key, column_name, ref_key, path: at.path };
    const value = subject.keys ? open(subject.keys, place, token) : null;
    if (value === undefined)
      return { ...cell, body: null, error: doesNotOpen(cell, at, 'it was damaged, or is of another address') };
    opened.push({ at, packed, value });
  }
  return { ...cell, body: withOpened(body, opened), ...(forgotten.length > 0 && { forgotten }) };
}

interface OpenedMember extends Omit<SealedMember, 'token'> {
  readonly value: Json;
}

/** Replaces opened fields. A packed body stays packed if possible, so that its other fields are not parsed. */
function withOpened(body: Json, opened: readonly OpenedMember[]): Json {
  if (body instanceof PackedBody) {
    const members = opened.flatMap(({ packed, value }) => (packed ? { ...packed, value } : []));
    const whole = withPackedMembers(body, members);
    if (whole) return whole as unknown as Json;
  }
  return opened.reduce((whole, { at, value }) => replaceAt(whole, at.steps, value), unpacked(body));
}

function doesNotOpen(
  { row_key, column_name, ref_key, shard, added_id }: Cell,
  { path }: SealedPath,
  why: string,
): SchemalessError {
  return new SchemalessError(
    'undecodable_body',
    `cannot open ${path} of ${row_key}/${column_name}/${ref_key} (shard ${shard}, added id ${added_id}): ${why}`,
    { address: { row_key, column_name, ref_key }, more: { shard, added_id } },
  );
}
