import type { DeclaredIndex } from './declared-index.ts';

/** A declaration none of whose members is misspelt: one that nothing reads does not compile. */
export type Only<Declared, Member> = { readonly [Other in Exclude<keyof Declared, Member>]: NoSuchMember };

/** Nothing is one: errors of the compiler name it. */
interface NoSuchMember {
  readonly 'no such member': never;
}

/** An index with one shard field, and no member that is misspelt. */
export type WellDeclaredIndex<Index extends DeclaredIndex, Member = keyof DeclaredIndex> = Only<Index, Member> & {
  readonly shardOn: IsOne<keyof Index['shardOn']> extends true ? unknown : 'one field, the first of the YAML';
};

type IsOne<Name> = [Name] extends [never] ? false : [Name] extends [Intersection<Name>] ? true : false;

export type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;
