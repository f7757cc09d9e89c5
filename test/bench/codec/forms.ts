import { Decoder, Encoder } from '@msgpack/msgpack';
// This entrance never loads the package's native part.
import { Packr } from 'msgpackr/pack';
import type { Json } from '../../../shared/cell.ts';

/** How a value is written as bytes, before anything is packed. */
export interface Form {
  readonly name: string;
  /** The bytes may be overwritten by the next call. */
  write(body: Json): Uint8Array;
  read(bytes: Uint8Array): Json;
}

const encoder = new Encoder({ useBigInt64: true });
const decoder = new Decoder({ useBigInt64: true });
/**
 * Its own extension for repeated shapes would have to be kept apart from the cells, so it is off; what is written is
 * plain MessagePack.
 */
const packr = new Packr({ useRecords: false, variableMapSize: true });

/** JSON as the engine has it: it rounds integers beyond 2^53, which the store keeps. */
export const JSON_TEXT: Form = {
  name: 'JSON',
  write: (body) => Buffer.from(JSON.stringify(body)),
  read: (bytes) => JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as Json,
};

/** With the options of the store. */
export const MESSAGE_PACK: Form = {
  name: 'MessagePack',
  write: (body) => encoder.encodeSharedRef(body),
  read: (bytes) => decoder.decode(bytes) as Json,
};

/** Another library for the same bytes. */
export const MSGPACKR: Form = {
  name: 'msgpackr',
  write: (body) => packr.pack(body),
  read: (bytes) => packr.unpack(bytes) as Json,
};
