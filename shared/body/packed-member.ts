import { MessagePackPasser } from './check-message-pack.ts';
import { PackedBody } from './packed-body.ts';
import { isMap, readMessagePack } from './read-message-pack.ts';
import { replaceInMessagePack, type PackedMember } from './write-message-pack.ts';

/** The value at a path of a packed body, of which nothing else is read; undefined where it has none. */
export function packedMember({ bytes }: PackedBody, steps: readonly string[]): PackedMember | undefined {
  const range = new MessagePackFinder(bytes).find(steps);
  return range && { ...range, value: readMessagePack(bytes.subarray(range.start, range.end)) };
}

/** A packed body with other values in the place of some; undefined where only text can keep one of them. */
export function withPackedMembers({ bytes }: PackedBody, members: readonly PackedMember[]): PackedBody | undefined {
  const replaced = replaceInMessagePack(
    bytes,
    members.toSorted((one, other) => one.start - other.start),
  );
  return replaced && new PackedBody(replaced);
}

class MessagePackFinder extends MessagePackPasser {
  find(steps: readonly string[]): { readonly start: number; readonly end: number } | undefined {
    if (!steps.every((step) => this.#enter(step))) return undefined;
    const start = this.at;
    this.pass(0);
    return { start, end: this.at };
  }

  /** Goes to the value of a member; false where it is none. */
  #enter(name: string): boolean {
    const type = this.byte();
    if (!isMap(type)) return false;
    for (let left = this.length(type); left > 0; left -= 1) {
      if (this.name() === name) return true;
      this.pass(0);
    }
    return false;
  }
}
