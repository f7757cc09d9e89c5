import { equalJson } from '../../shared/body/equal.ts';
import type { Json } from '../../shared/cell.ts';
import type { BarPlot, Bench, BenchWorld, Findings } from './bench.ts';
import { barPlot, rowsOn } from './rows-and-plots.ts';
import { bodiesOf, BODY_SIZES, type BodySize } from './codec/bodies.ts';
import { codecsFor, type Codec } from './codec/codecs.ts';
import { timeInTurn, type Taken } from './codec/time-in-turn.ts';

/** Of each size. */
const BODIES = 48;
const SAMPLES = 16;

export const codecBench: Bench = {
  name: 'codec',
  what: `ways to store a body, ${BODIES} trips each of ${BODY_SIZES.join(', ')} of JSON: mean bytes (next to JSON), µs of CPU to encode + decode`,
  limitMinutes: 3,

  async measure({ seed, say, signal }: BenchWorld): Promise<Findings> {
    const costs: Cost[] = [];
    for (const size of BODY_SIZES) {
      const ofSize = await costsOf(size, { seed, signal });
      costs.push(...ofSize);
      for (const cost of ofSize) say(`${cost.codec}; ${figureOf(cost)}`);
    }
    const byCodec = Map.groupBy(costs, ({ codec }) => codec);
    const row = rowsOn(`Node ${process.versions.node}`);
    const measured = [...byCodec].map(([codec, ofCodec]) => row(`codec: ${codec}`, ofCodec.map(figureOf).join('; ')));
    const ofSize = Map.groupBy(costs, ({ size }) => size);
    const plots = [...ofSize].flatMap(([size, some]) => plotsOf(size, some));
    return { measured, plots };
  },
};

/** What a codec makes of the bodies of a size. */
interface Cost {
  readonly codec: string;
  readonly size: BodySize;
  /** Mean of the bodies. */
  readonly bytes: number;
  /** Times those of JSON. */
  readonly ratio: number;
  readonly encode: Taken;
  readonly decode: Taken;
}

async function costsOf(
  size: BodySize,
  { seed, signal }: Pick<BenchWorld, 'seed' | 'signal'>,
): Promise<readonly Cost[]> {
  const bodies = bodiesOf(size, seed, 0, BODIES);
  const codecs = codecsFor(bodiesOf(size, seed, BODIES, SAMPLES));
  const encoded = codecs.map((codec) => bodies.map((body) => roundTrip(codec, body)));
  const passes = codecs.flatMap(({ encode, decode }, position) => [
    () => {
      for (const body of bodies) encode(body);
    },
    () => {
      for (const bytes of encoded[position] ?? []) decode(bytes);
    },
  ]);
  const taken = await timeInTurn(passes, { units: BODIES, signal });
  const jsonBytes = mean(bodies.map((body) => Buffer.byteLength(JSON.stringify(body))));
  return codecs.flatMap(({ name }, position) => {
    const [encode, decode] = taken.slice(2 * position, 2 * position + 2);
    const bytes = mean((encoded[position] ?? []).map(({ length }) => length));
    return encode && decode ? [{ codec: name, size, bytes, ratio: bytes / jsonBytes, encode, decode }] : [];
  });
}

function roundTrip({ name, encode, decode }: Codec, body: Json): Uint8Array {
  const bytes = encode(body);
  if (!equalJson(decode(bytes), body)) throw new Error(`${name}: wanted the body that was encoded, got another one`);
  return bytes;
}

function figureOf({ size, bytes, ratio, encode, decode }: Cost): string {
  return `${size}: ${bytes.toFixed(0)} B (${ratio.toFixed(2)}), ${encode.median.toFixed(1)} + ${decode.median.toFixed(1)} µs`;
}

function plotsOf(size: BodySize, costs: readonly Cost[]): readonly BarPlot[] {
  const stored = costs.map(({ codec, bytes }) => ({ label: codec, value: bytes }));
  const taken = costs.map(({ codec, encode, decode }) => ({
    label: codec,
    value: encode.median + decode.median,
    least: encode.least + decode.least,
    most: encode.most + decode.most,
  }));
  return [
    barPlot(`Stored size of a body of ${size}, mean`, 'bytes', stored),
    barPlot(`Encoding and decoding a body of ${size}`, 'µs of CPU', taken),
  ];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
