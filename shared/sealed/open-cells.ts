import { PackedBody } from '../body/packed-body.ts';
import type { Cell, Json } from '../cell.ts';
import { SEALED_KEY } from '../definitions/field-value.ts';
import { SchemalessError } from '../errors.ts';
import { overKeys } from './key-store.ts';
import type { Sealing } from './seal-cells.ts';
import { replaceAt, tokenOf, valuesAt, type SealedPath, type SealedPaths } from './sealed-paths.ts';
import { open, readToken, type Token } from './sealing.ts';
import type { Subjects } from './subject-keyring.ts';

/** A cell with something sealed. */
interface SealedBody {
  readonly body: Json;
  readonly sealed: readonly {
    readonly at: SealedPath;
    /** Undefined where it is none that this version knows. */
    readonly token: Token | undefined;
  }[];
}

/**
 * Opens what is sealed of some cells. Of a subject that was forgotten a field is null, and listed in `forgotten`.
 *
 * A cell of which something does not open, though its subject was not forgotten, has an `error` in the place of its body.
 *
 * @param sealing asked for the keys only where something is sealed; undefined: there are none
 * @throws SchemalessError `unavailable` where keys cannot be reached
 */
export async function openCells<Read extends Cell>(
  datastore: string,
  paths: SealedPaths,
  { cells, sealing }: { readonly cells: readonly Read[]; readonly sealing: () => Promise<Sealing | undefined> },
): Promise<readonly Read[]> {
  const found = cells.map((cell) => sealedIn(cell, paths.get(cell.column_name)));
  if (found.every((one) => one === undefined)) return cells;
  const opening = await sealing();
  const names = new Set(found.flatMap((one) => one?.sealed.flatMap(({ token }) => token?.name ?? []) ?? []));
  const known: Subjects = opening ? await overKeys(() => opening.subjects.known(names)) : new Map();
  return cells.map((cell, position) => {
    const sealed = found[position];
    return sealed ? openCell(datastore, cell, sealed, known) : cell;
  });
}

function sealedIn(
  { body: read, erasure, error }: Cell,
  paths: readonly SealedPath[] | undefined,
): SealedBody | undefined {
  if (!paths || read === null || erasure || error) return undefined;
  // Most that is written without a subject need not be read for that.
  if (
    read instanceof PackedBody &&
    !Buffer.from(read.bytes.buffer, read.bytes.byteOffset, read.bytes.length).includes(SEALED_KEY)
  )
    return undefined;
  const body: Json = read instanceof PackedBody ? read.toJSON() : read;
  const sealed = valuesAt(body, paths).flatMap(({ at, value }) => {
    const token = tokenOf(value);
    return token === undefined ? [] : [{ at, token: readToken(token) }];
  });
  return sealed.length === 0 ? undefined : { body, sealed };
}

function openCell<Read extends Cell>(
  datastore: string,
  cell: Read,
  { body: read, sealed }: SealedBody,
  known: Subjects,
): Read {
  const { row_key, column_name, ref_key } = cell;
  let body = read;
  const forgotten: string[] = [];
  for (const { at, token } of sealed) {
    const subject = token && known.get(token.name);
    if (!subject)
      return { ...cell, body: null, error: doesNotOpen(cell, at, token ? 'its key is not there' : 'it was damaged') };
    if (!subject.keys) forgotten.push(at.path);
    const place = { datastore, row_key, column_name, ref_key, path: at.path };
    const value = subject.keys ? open(subject.keys, place, token) : null;
    if (value === undefined)
      return { ...cell, body: null, error: doesNotOpen(cell, at, 'it was damaged, or is of another place') };
    body = replaceAt(body, at.steps, value);
  }
  return { ...cell, body, ...(forgotten.length > 0 && { forgotten }) };
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
