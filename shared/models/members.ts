import type { Json } from '../cell.ts';

export interface Members {
  readonly [member: string]: Json;
}

export interface MemberChanges {
  readonly [member: string]: Json | undefined;
}

export function isMembers(body: Json): body is Members {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

export function merged(body: Members, changes: MemberChanges): Members {
  const all = Object.entries({ ...body, ...changes }).filter((pair): pair is [string, Json] => pair[1] !== undefined);
  return Object.fromEntries(all);
}

export function unsaved(changes: MemberChanges, saved: MemberChanges): MemberChanges {
  return Object.fromEntries(
    Object.entries(changes).filter(([member, value]) => !Object.hasOwn(saved, member) || saved[member] !== value),
  );
}
