import type { Json } from '../../shared/cell.ts';
import { invalidField, missingField, unknownField } from '../../shared/errors.ts';
import type { HttpRequest } from './request.ts';

/** The members of a JSON object of a request, by the names that may come. A member that did not come is undefined. */
export type Members<Name extends string> = { readonly [name in Name]: Json | undefined };

/**
 * The members of the object that a request body is. Throws SchemalessError `invalid_field` when it is no object,
 * `unknown_field` for members that may not come.
 */
export function readMembers<Name extends string>(value: Json, names: readonly Name[]): Members<Name> {
  return membersOf(value, names, 'body', '');
}

/**
 * For what takes no choice: somebody who sends one would have it done to all. Throws SchemalessError `invalid_json`,
 * `invalid_field` when it is no object, `unknown_field` for whatever is in it.
 */
export function refuseMembers(request: Pick<HttpRequest, 'hasBody' | 'json'>): void {
  if (request.hasBody) readMembers(request.json(), []);
}

/**
 * The items of an array of objects. `field`: the array's name; messages name the item at fault as `cells[3]`, its
 * members as `cells[3].ref_key`. `most`: how many items are taken. `read`: makes an item of its members; `prefix` is
 * `cells[3].`. Throws SchemalessError `missing_field`, `invalid_field`, `unknown_field`, and what `read` throws.
 */
export function readItems<Name extends string, Item>(
  value: Json | undefined,
  field: string,
  most: number,
  names: readonly Name[],
  read: (members: Members<Name>, prefix: string) => Item,
): readonly Item[] {
  return readArray(value, field, most).map((item, position) => {
    const at = `${field}[${position}]`;
    return read(membersOf(item, names, at, `${at}.`), `${at}.`);
  });
}

/** An array of up to `most` items. Throws `missing_field`, `invalid_field`. */
export function readArray(value: Json | undefined, field: string, most: number): readonly Json[] {
  const wanted = `an array of up to ${most} items`;
  if (value === undefined) throw missingField(field, wanted);
  if (!isArray(value)) throw invalidField(field, wanted, value);
  if (value.length > most) throw invalidField(field, wanted, value.length);
  return value;
}

/** Array.isArray does not narrow readonly arrays. */
function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function membersOf<Name extends string>(
  value: Json,
  names: readonly Name[],
  field: string,
  prefix: string,
): Members<Name> {
  if (typeof value !== 'object' || value === null || isArray(value)) {
    throw invalidField(field, `an object with ${names.join(', ')}`, value);
  }
  const known: readonly string[] = names;
  const stranger = Object.keys(value).find((name) => !known.includes(name));
  if (stranger !== undefined) throw unknownField(`${prefix}${stranger}`, known);
  return Object.fromEntries(
    names.map((name) => [name, Object.hasOwn(value, name) ? value[name] : undefined]),
  ) as Members<Name>;
}
