/**
 * The canonical form of a JSON value (RFC 8785): no white space, members sorted by their keys' UTF-16 units, numbers and
 * strings as JavaScript writes them. Equal values have one form, whoever writes it.
 *
 * @throws TypeError for what the form has no way to say: integers beyond doubles, lone surrogates, values that are no JSON
 */
export function canonicalForm(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalForm).join(',')}]`;
  switch (typeof value) {
    case 'object': {
      if (value === null) return 'null';
      const members = Object.entries(value).filter(([, member]) => member !== undefined);
      const sorted = members.toSorted(([one], [other]) => (one < other ? -1 : 1));
      return `{${sorted.map(([key, member]) => `${text(key)}:${canonicalForm(member)}`).join(',')}}`;
    }
    case 'string':
      return text(value);
    case 'boolean':
      return String(value);
    case 'number':
      if (Number.isFinite(value)) return JSON.stringify(value);
      throw new TypeError(`canonical JSON: wanted a finite number, got ${value}`);
    default:
      throw new TypeError(`canonical JSON: wanted a JSON value, got a ${typeof value}`);
  }
}

function text(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('canonical JSON: wanted well-formed Unicode, got a lone surrogate');
  return JSON.stringify(value);
}
