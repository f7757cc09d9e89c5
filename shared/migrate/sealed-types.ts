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
 * Returns the sealed fields with a type other than `string` and `UUID`, or than in another index. `desired`: with their
 * sealed fields marked; of two that differ, the first is right. `there`: existing indexes, with the fields marked whose
 * hashes they have; they precede all desired ones.
 */
export function wrongSealedTypes(
  desired: readonly IndexDefinition[],
  there: readonly IndexDefinition[],
): readonly WrongSealedType[] {
  const types = new Map<string, string>();
  const wrong: WrongSealedType[] = [];
  const sealedFields = (index: IndexDefinition) => index.fields.filter(({ sealed }) => sealed);
  for (const { column_key, field, type } of there.flatMap(sealedFields)) types.set(`${column_key}/${field}`, type);
  for (const index of desired)
    for (const { column_key, field, type } of sealedFields(index)) {
      const specified = types.get(`${column_key}/${field}`);
      const isWrong = !HASHED.includes(type) || (specified !== undefined && specified !== type);
      if (isWrong)
        wrong.push({ index: index.name, field: `${field}.type`, wanted: specified ?? HASHED.join(' or '), got: type });
      else types.set(`${column_key}/${field}`, type);
    }
  return wrong;
}
