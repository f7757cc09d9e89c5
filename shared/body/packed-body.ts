import type { Json } from '../cell.ts';
import { isWellFormed, readMessagePack } from './read-message-pack.ts';

/** A body as MessagePack, as it is stored, in place of its value. As JSON it is written as its value is. */
export class PackedBody {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  toJSON(): Json {
    return readMessagePack(this.bytes);
  }
}

/** In the place of a value; undefined for bytes that a reader could stumble over. */
export function packedBody(bytes: Uint8Array): Json | undefined {
  return isWellFormed(bytes) ? (new PackedBody(bytes) as unknown as Json) : undefined;
}

export function unpacked(body: unknown): Json {
  return body instanceof PackedBody ? body.toJSON() : (body as Json);
}
