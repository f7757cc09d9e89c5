import { parseAddress } from '../address.ts';
import { checkBody } from '../body/measure.ts';
import type { Json, NewCell } from '../cell.ts';
import { wrongField } from '../errors.ts';
import type { DatastoreKeys } from './datastore-keys.ts';
import { HASH_KEY, SEALED_KEY, toFieldValue, valueAt } from '../definitions/field-value.ts';
import { overKeys } from './key-store.ts';
import { replaceAt, tokenOf, valuesToSeal, type FoundValue, type SealedPaths } from './sealed-paths.ts';
import { parseSubject } from '../subject.ts';
import { open, readToken, seal, type Place, type SubjectKeys } from './sealing.ts';
import type { SubjectKeyring, Subjects } from './subject-keyring.ts';

export interface Sealing {
  readonly keys: DatastoreKeys;
  readonly subjects: SubjectKeyring;
}

export type SealedCell<Given extends NewCell> =
  | {
      /** Ready for the store. */
      readonly cell: Given;
      /** Its body with nothing sealed. */
      readonly plain: Json;
      readonly forgotten?: undefined;
    }
  /** It names a forgotten subject, so it is not written. */
  | { readonly cell?: undefined; readonly forgotten: { readonly field: string; readonly row_key: string } };

/** A cell and its values to seal, with their subjects. */
interface Wanted<Given extends NewCell> {
  readonly cell: Given;
  readonly field: string;
  readonly values: readonly (FoundValue & { readonly subject: string })[];
}

/**
 * Seals the sealed fields of some cells. `prefixOf`: how messages name each: `cells[3].`, or nothing. Reads keys only
 * if needed. Throws SchemalessError `unavailable`. Throws `invalid_field` or `missing_field` for an address, a body, a
 * value that cannot be sealed, or a token that does not open at its address.
 */
export async function sealCells<Given extends NewCell>(
  datastore: string,
  paths: SealedPaths,
  cells: readonly Given[],
  prefixOf: (position: number) => string,
  sealing: () => Promise<Sealing>,
): Promise<readonly SealedCell<Given>[]> {
  const wanted = cells.map((cell, position) => whatToSeal(cell, paths, prefixOf(position)));
  if (wanted.every(({ values }) => values.length === 0)) return cells.map((cell) => ({ cell, plain: cell.body }));
  const { keys, subjects } = await sealing();
  const names = new Set(wanted.flatMap(({ values }) => values.map(({ subject }) => keys.nameOf(subject))));
  const known = await overKeys(() => subjects.made(names));
  return wanted.map((one) => sealCell(datastore, one, keys, known));
}

function whatToSeal<Given extends NewCell>(cell: Given, paths: SealedPaths, prefix: string): Wanted<Given> {
  const field = `${prefix}body`;
  const ofColumn = paths.get(cell.column_name);
  if (!ofColumn) return { cell, field, values: [] };
  const address = parseAddress(cell, prefix);
  // Only JSON has a text that can be sealed.
  checkBody(cell.body, field);
  const values = valuesToSeal(cell.body, ofColumn, field).map((found) => ({
    ...found,
    subject: parseSubject(valueAt(cell.body, found.at.subject.split('.')), `${field}.${found.at.subject}`),
  }));
  return { cell: { ...cell, ...address }, field, values };
}

function sealCell<Given extends NewCell>(
  datastore: string,
  { cell, field, values }: Wanted<Given>,
  keys: DatastoreKeys,
  known: Subjects,
): SealedCell<Given> {
  let [body, plain] = [cell.body, cell.body];
  for (const { at, value: given, subject } of values) {
    const { row_key, column_name, ref_key } = cell;
    const place: Place = { datastore, row_key, column_name, ref_key, path: at.path };
    const ofSubject = known.get(keys.nameOf(subject));
    if (!ofSubject) throw new Error('a subject without a key that was to be made');
    if (!ofSubject.keys) return { forgotten: { field: `${field}.${at.subject}`, row_key } };
    const value = tokenOf(given) === undefined ? given : opened(given, `${field}.${at.path}`, ofSubject.keys, place);
    // Undefined if an index would not accept it.
    const typed = at.hashed && toFieldValue(value, at.hashed.type);
    const hash = at.hashed && typeof typed === 'string' && { [HASH_KEY]: keys.hashOf(at.hashed, typed) };
    body = replaceAt(body, at.steps, { [SEALED_KEY]: seal(ofSubject.keys, place, value), ...hash });
    plain = replaceAt(plain, at.steps, value);
  }
  return { cell: { ...cell, body }, plain };
}

/** Accepts sealed values from this very address, as in a line of an export; extra members would be lost. */
function opened(given: Json, field: string, keys: SubjectKeys, place: Place): Json {
  const others = Object.keys(Object(given)).filter((member) => member !== SEALED_KEY && member !== HASH_KEY);
  const read = others.length === 0 ? readToken(tokenOf(given)) : undefined;
  const value = read && open(keys, place, read);
  if (value !== undefined) return value;
  const wanted = 'a value, or its sealed form at this address under the key of its subject';
  throw wrongField(field, wanted, 'something else');
}

export interface SealedParts {
  readonly paths: () => Promise<SealedPaths>;
  /** Returns the keys, and creates them if there are none. */
  readonly made: () => Promise<Sealing>;
  /** Returns the keys, if there are any; at once if they were read before. */
  readonly known: () => Sealing | Promise<Sealing | undefined>;
}
