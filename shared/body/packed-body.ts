import type { Json } from '../cell.ts';
import { isWellFormed, readMessagePack } from './read-message-pack.ts';

/** A body in MessagePack, as stored, instead of its value. In JSON it is written like its value. */
export class PackedBody {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  toJSON(): Json {
    return readMessagePack(this.bytes);
  }
}

/** Returns a packed body instead of a value; undefined for bytes that a reader could fail on. */
export function packedBody(bytes: Uint8Array): Json | undefined {
  return isWellFormed(bytes) ? (new PackedBody(bytes) as unknown as Json) : undefined;
}

export function unpacked(body: unknown): Json {
  return body instanceof PackedBody ? body.toJSON() : (body as Json);
}
