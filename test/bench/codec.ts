import { setImmediate as otherWork } from 'node:timers/promises';
import { constants, deflateSync, inflateSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Decoder, Encoder } from '@msgpack/msgpack';
import { decodeBody, encodeBody } from '../../shared/body/codec.ts';
import { equalJson } from '../../shared/body/equal.ts';
import type { Json } from '../../shared/cell.ts';
import { baseBody } from '../support/trips/base.ts';
import { tripFacts } from '../support/trips/facts.ts';
import type { Bench, BenchWorld, Findings } from './bench.ts';
import { rowsOn } from './rows.ts';
import { median } from './side-by-side.ts';

/** A way from a body to the bytes that are stored, and back. */
interface Codec {
  readonly name: string;
  encode(body: Json): Uint8Array;
  decode(bytes: Uint8Array): Json;
}

/** Of each size. */
const BODIES = 48;
const BODY_SIZES = ['1 KB', '20 KB'] as const;
const ZLIB_LEVELS = [1, 3, 5, 6, 9];
const ZSTD_LEVELS = [1, 3, 9];

/** What a codec makes of the bodies of a size: 512 B (0.55), 12.1 + 4.3 µs. */
export const codecBench: Bench = {
  name: 'codec',
  what: `ways to store a body, ${BODIES} trips each of ${BODY_SIZES.join(', ')} of JSON: mean bytes (next to JSON), µs of CPU to encode + decode`,
  limitMinutes: 3,

  async measure({ seed, say, signal }: BenchWorld): Promise<Findings> {
    const figures = new Map<string, string[]>();
    for (const size of BODY_SIZES) {
      const bodies = Array.from({ length: BODIES }, (_, number) => bodyOf(size, seed, number));
      const jsonBytes = mean(bodies.map((body) => Buffer.byteLength(JSON.stringify(body))));
      const encoded = CODECS.map((codec) => bodies.map((body) => roundTrip(codec, body)));
      const passes = CODECS.flatMap(({ encode, decode }, position) => [
        () => bodies.forEach((body) => encode(body)),
        () => encoded[position]?.forEach((bytes) => decode(bytes)),
      ]);
      const micros = await microsInTurn(passes, BODIES, signal);
      for (const [position, { name }] of CODECS.entries()) {
        const bytes = mean((encoded[position] ?? []).map(({ length }) => length));
        const [encode = Number.NaN, decode = Number.NaN] = micros.slice(2 * position);
        const figure = `${size}: ${bytes.toFixed(0)} B (${(bytes / jsonBytes).toFixed(2)}), ${encode.toFixed(1)} + ${decode.toFixed(1)} µs`;
        figures.set(name, [...(figures.get(name) ?? []), figure]);
        say(`${name}; ${figure}`);
      }
    }
    const row = rowsOn(`Node ${process.versions.node}`);
    return { measured: [...figures].map(([name, ofCodec]) => row(`codec: ${name}`, ofCodec.join('; '))) };
  },
};

const encoder = new Encoder({ useBigInt64: true });
const decoder = new Decoder({ useBigInt64: true });
/** With the options of the store. */
const MESSAGE_PACK: Codec = {
  name: 'MessagePack',
  encode: (body) => encoder.encode(body),
  decode: (bytes) => decoder.decode(bytes) as Json,
};
/** As the engine has it: it rounds integers beyond 2^53, which the store keeps. */
const JSON_TEXT: Codec = {
  name: 'JSON',
  encode: (body) => Buffer.from(JSON.stringify(body)),
  decode: (bytes) => JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as Json,
};
/** With its checks, and plain where zlib does not pay. */
const STORE: Codec = { name: 'the store', encode: (body) => encodeBody(body), decode: decodeBody };

const CODECS: readonly Codec[] = [
  ...[JSON_TEXT, MESSAGE_PACK].flatMap((form) => [
    form,
    ...ZLIB_LEVELS.map((level) => packed(form, `zlib ${level}`, (plain) => deflateSync(plain, { level }), inflateSync)),
    ...ZSTD_LEVELS.map((level) => {
      const params = { [constants.ZSTD_c_compressionLevel]: level };
      return packed(form, `zstd ${level}`, (plain) => zstdCompressSync(plain, { params }), zstdDecompressSync);
    }),
  ]),
  STORE,
];

function packed(
  { name, encode, decode }: Codec,
  packing: string,
  pack: (plain: Uint8Array) => Uint8Array,
  unpack: (packed: Uint8Array) => Uint8Array,
): Codec {
  return {
    name: `${name}, ${packing}`,
    encode: (body) => pack(encode(body)),
    decode: (bytes) => decode(unpack(bytes)),
  };
}

function bodyOf(size: (typeof BODY_SIZES)[number], seed: string, number: number): Json {
  const facts = tripFacts(seed, number);
  if (size === '20 KB') return baseBody(seed, facts, 'uber');
  const { events: _events, route: _route, ...record } = baseBody(seed, facts, 'usual');
  return record;
}

function roundTrip({ name, encode, decode }: Codec, body: Json): Uint8Array {
  const bytes = encode(body);
  if (!equalJson(decode(bytes), body)) throw new Error(`${name}: wanted the body that was encoded, got another one`);
  return bytes;
}

const ROUNDS = 9;
const ROUND_MS = 8;
const WARM_MS = 40;

/**
 * Microseconds of processor time of each pass for one unit. Passes take turns, so that other work of the machine falls
 * on all alike. Each round begins with another one: garbage is collected after so many bytes, which would be after the
 * same pass of every round.
 */
async function microsInTurn(
  passes: readonly (() => void)[],
  units: number,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const timed = passes.map((pass) => ({ pass, times: timesOf(pass), micros: [] as number[] }));
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = Math.floor((round * timed.length) / ROUNDS);
    for (const { pass, times, micros } of [...timed.slice(from), ...timed.slice(0, from)]) {
      const start = processorMicros();
      for (let time = 0; time < times; time += 1) pass();
      micros.push((processorMicros() - start) / (times * units));
    }
    await otherWork();
    signal.throwIfAborted();
  }
  return timed.map(({ micros }) => median(micros));
}

/** How often a pass has to be done in a round; warms it up. */
function timesOf(pass: () => void): number {
  const start = processorMicros();
  let times = 0;
  while (processorMicros() - start < WARM_MS * 1000) {
    pass();
    times += 1;
  }
  return Math.max(1, Math.round((times * ROUND_MS) / WARM_MS));
}

function processorMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
