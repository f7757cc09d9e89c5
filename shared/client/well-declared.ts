import type { DeclaredIndex } from './declared-index.ts';

/** Rejects misspelt members of a declaration at compile time. */
export type Only<Declared, Member> = { readonly [Other in Exclude<keyof Declared, Member>]: NoSuchMember };

/** Has no values; its name appears in compiler errors. */
interface NoSuchMember {
  readonly 'no such member': never;
}

/** An index with one shard field and no misspelt member. */
export type WellDeclaredIndex<Index extends DeclaredIndex, Member = keyof DeclaredIndex> = Only<Index, Member> & {
  readonly shardOn: IsOne<keyof Index['shardOn']> extends true ? unknown : 'one field, the first of the YAML';
};

type IsOne<Name> = [Name] extends [never] ? false : [Name] extends [Intersection<Name>] ? true : false;

export type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;
