import type { Json } from '../cell.ts';
import { needsText } from './key-order.ts';
import { PackedBody } from './packed-body.ts';
import { MessagePackReader, readMessagePack } from './read-message-pack.ts';

/**
 * Writes a value as MessagePack, with packed bodies as they are, without undefined members. Returns undefined for
 * values that readers refuse or reorder: the key `__proto__`, keys in another order than JavaScript's.
 */
export function writeMessagePack(value: unknown): Buffer | undefined {
  if (value instanceof PackedBody) return bufferOf(value.bytes);
  const writer = new MessagePackWriter();
  return writer.write(value) ? writer.taken() : undefined;
}

/** Packs a map of one member: a list of already packed values; undefined becomes null. */
export function packedListOf(name: string, items: readonly (Uint8Array | undefined)[]): PackedBody {
  // In one allocation: growth copies the bytes, and such a list may be long.
  const writer = new MessagePackWriter(items.reduce((sum, item) => sum + (item?.length ?? 1), HEADS_BYTES));
  writer.listOf(name, items);
  return new PackedBody(writer.taken());
}

/** Room for the heads of a map and a list, and for a name. */
const HEADS_BYTES = 64;
const [FIRST_BYTES, NAMES_KEPT, LONGEST_NAME] = [4096, 512, 32];
/** Packed names of members, with their heads: the items of a list have the same names. */
const names = new Map<string, Buffer>();

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A value within a packed body, and its range there. */
export interface PackedMember {
  readonly start: number;
  readonly end: number;
  readonly value: Json;
}

class MessagePackWriter {
  #bytes: Buffer;
  #at = 0;

  constructor(firstBytes = FIRST_BYTES) {
    this.#bytes = Buffer.allocUnsafe(firstBytes);
  }

  taken(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  listOf(name: string, items: readonly (Uint8Array | undefined)[]): void {
    this.#head(1, 0x80, 16, 0xde);
    this.#name(name);
    this.#head(items.length, 0x90, 16, 0xdc);
    for (const item of items) {
      if (item) this.raw(item);
      else this.#byte(0xc0);
    }
  }

  /** Writes a value; false if it cannot be written, which makes the bytes so far useless. */
  write(value: unknown): boolean {
    switch (typeof value) {
      case 'string':
        this.#string(value);
        return true;
      case 'number':
        this.#number(value);
        return true;
      case 'boolean':
        this.#byte(value ? 0xc3 : 0xc2);
        return true;
      case 'bigint':
        this.#bigint(value);
        return true;
      case 'object':
        if (value === null) break;
        if (value instanceof PackedBody) this.raw(value.bytes);
        else if (Array.isArray(value)) return this.#array(value);
        else return this.#object(value as { readonly [key: string]: Json });
        return true;
      default:
    }
    this.#byte(0xc0);
    return true;
  }

  #array(items: readonly unknown[]): boolean {
    this.#head(items.length, 0x90, 16, 0xdc);
    return items.every((item) => this.write(item));
  }

  #object(object: { readonly [key: string]: unknown }): boolean {
    if (needsText(object as { readonly [key: string]: Json })) return false;
    const written = Object.keys(object);
    let count = 0;
    for (const name of written) if (object[name] !== undefined) count += 1;
    this.#head(count, 0x80, 16, 0xde);
    for (const name of written) {
      if (object[name] === undefined) continue;
      this.#name(name);
      if (!this.write(object[name])) return false;
    }
    return true;
  }

  #name(name: string): void {
    const known = names.get(name);
    if (known !== undefined) return this.raw(known);
    this.#room(name.length * 3 + 5);
    const start = this.#at;
    this.#string(name);
    if (name.length <= LONGEST_NAME && names.size < NAMES_KEPT)
      names.set(name, Buffer.from(this.#bytes.subarray(start, this.#at)));
  }

  #string(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#room(bytes + 5);
    if (bytes >= 32 && bytes < 0x100) {
      this.#byte(0xd9);
      this.#byte(bytes);
    } else this.#head(bytes, 0xa0, 32, 0xda);
    this.#at += this.#bytes.write(text, this.#at, bytes, bytes === text.length ? 'latin1' : 'utf8');
  }

  /** Writes integers of more than 32 bits as doubles, as in stored bodies. */
  #number(value: number): void {
    this.#room(9);
    if (!Number.isFinite(value)) this.#byte(0xc0);
    else if (!Number.isInteger(value) || value > 0xffff_ffff || value < -0x8000_0000) {
      this.#byte(0xcb);
      this.#at = this.#bytes.writeDoubleBE(value, this.#at);
    } else if (value >= -32 && value < 128) this.#byte(value < 0 ? value + 0x100 : value);
    else if (value < 0) {
      this.#byte(0xd2);
      this.#at = this.#bytes.writeInt32BE(value, this.#at);
    } else {
      this.#byte(0xce);
      this.#at = this.#bytes.writeUInt32BE(value, this.#at);
    }
  }

  #bigint(value: bigint): void {
    this.#room(9);
    this.#byte(value < 0n ? 0xd3 : 0xcf);
    this.#at = this.#bytes.writeBigUInt64BE(BigInt.asUintN(64, value), this.#at);
  }

  /** Writes the head of an array, a map or a text. */
  #head(length: number, short: number, shorterThan: number, of16Bits: number): void {
    this.#room(5);
    if (length < shorterThan) this.#byte(short | length);
    else if (length < 0x1_0000) {
      this.#byte(of16Bits);
      this.#at = this.#bytes.writeUInt16BE(length, this.#at);
    } else {
      this.#byte(of16Bits + 1);
      this.#at = this.#bytes.writeUInt32BE(length, this.#at);
    }
  }

  #byte(byte: number): void {
    this.#room(1);
    this.#bytes[this.#at] = byte;
    this.#at += 1;
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  #room(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const longer = Buffer.allocUnsafe(Math.max(this.#at + more, this.#bytes.length * 2));
    longer.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = longer;
  }
}

/** Returns the value at a path of a packed body, without reading more; undefined if there is none. */
export function packedMember({ bytes }: PackedBody, steps: readonly string[]): PackedMember | undefined {
  const range = new MessagePackReader(bytes).find(steps);
  return range && { ...range, value: readMessagePack(bytes.subarray(range.start, range.end)) };
}

/** Replaces values of a packed body; undefined if only text can keep one of them. */
export function withPackedMembers({ bytes }: PackedBody, members: readonly PackedMember[]): PackedBody | undefined {
  const writer = new MessagePackWriter(bytes.length);
  let at = 0;
  for (const { start, end, value } of members.toSorted((one, other) => one.start - other.start)) {
    // Bytes between them are copied as they are.
    writer.raw(bytes.subarray(at, start));
    if (!writer.write(value)) return undefined;
    at = end;
  }
  writer.raw(bytes.subarray(at));
  return new PackedBody(writer.taken());
}
