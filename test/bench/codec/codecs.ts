import { decodeBody, encodeBody } from '../../../shared/body/codec.ts';
import type { Json } from '../../../shared/cell.ts';
import { JSON_TEXT, MESSAGE_PACK, MSGPACKR, type Form } from './forms.ts';
import { PLAIN, RAW_DEFLATE, zlibPacking, zstdPacking, type Packing } from './packings.ts';

/** A way from a body to the bytes that are stored, and back. */
export interface Codec {
  readonly name: string;
  encode(body: Json): Uint8Array;
  decode(bytes: Uint8Array): Json;
}

/** Beyond this a dictionary makes small bodies slower to pack than it makes them smaller. */
const DICTIONARY_BYTES = 2048;
const ZLIB_LEVELS = [1, 3, 6, 9];
const ZSTD_LEVELS = [1, 3, 9];

/** As the store has it: with its checks, and plain where zlib does not pay. */
const STORE: Codec = { name: 'the store', encode: (body) => encodeBody(body), decode: decodeBody };

/** @param samples bodies that dictionaries are made of, others than those that are measured */
export function codecsFor(samples: readonly Json[]): readonly Codec[] {
  const levels: readonly Packing[] = [
    ...ZLIB_LEVELS.map((level) => zlibPacking(level)),
    ...ZSTD_LEVELS.map((level) => zstdPacking(level)),
  ];
  const packed = (form: Form): readonly Codec[] => {
    const dictionary = dictionaryOf(form, samples);
    return [PLAIN, ...levels, zlibPacking(6, dictionary), zstdPacking(3, dictionary)].map((packing) =>
      codecOf(form, packing),
    );
  };
  return [
    ...packed(JSON_TEXT),
    ...packed(MESSAGE_PACK),
    codecOf(MESSAGE_PACK, RAW_DEFLATE),
    codecOf(MSGPACKR, PLAIN),
    codecOf(MSGPACKR, zlibPacking(6)),
    STORE,
  ];
}

function codecOf(form: Form, { name, pack, unpack }: Packing): Codec {
  return {
    name: name === '' ? form.name : `${form.name}, ${name}`,
    encode: (body) => pack(form.write(body)),
    decode: (bytes) => form.read(unpack(bytes)),
  };
}

function dictionaryOf(form: Form, samples: readonly Json[]): Buffer {
  return Buffer.concat(samples.map((sample) => form.write(sample).slice())).subarray(0, DICTIONARY_BYTES);
}
