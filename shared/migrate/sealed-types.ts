import { HASHED, type IndexDefinition } from '../definitions/definitions.ts';

/** A type that a sealed field cannot have in an index. */
interface WrongSealedType {
  readonly index: string;
  /** `rider_email.type` */
  readonly field: string;
  readonly wanted: string;
  readonly got: string;
}

export const ONE_HASH = 'a sealed field has one keyed hash, made of a string or UUID, which all indexes share';

/**
 * The types of sealed fields that indexes may not have: others than `string` and `UUID`, or than another index has.
 * `wished`: with their sealed fields marked; of two that differ the first is right. `there`: whatever is there, with
 * those marked whose hashes it has: right before all that is wished.
 */
export function wrongSealedTypes(
  wished: readonly IndexDefinition[],
  there: readonly IndexDefinition[],
): readonly WrongSealedType[] {
  const types = new Map<string, string>();
  const wrong: WrongSealedType[] = [];
  const sealedFields = (index: IndexDefinition) => index.fields.filter(({ sealed }) => sealed);
  for (const { column_key, field, type } of there.flatMap(sealedFields)) types.set(`${column_key}/${field}`, type);
  for (const index of wished)
    for (const { column_key, field, type } of sealedFields(index)) {
      const said = types.get(`${column_key}/${field}`);
      const isWrong = !HASHED.includes(type) || (said !== undefined && said !== type);
      if (isWrong)
        wrong.push({ index: index.name, field: `${field}.type`, wanted: said ?? HASHED.join(' or '), got: type });
      else types.set(`${column_key}/${field}`, type);
    }
  return wrong;
}
