/** Where values are on an axis. */
export interface Scale {
  /** 0 at the start of the axis, 1 at its end. */
  at(value: number): number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

/** Parts of an axis between ticks; rounding outwards may add two. Labels of more would not fit on a telephone. */
const PARTS = 5;
/** So few places on a logarithmic axis are its ticks themselves. */
const MOST_OWN_TICKS = 7;
/** Labels nearer to each other overlap, in shares of the axis. */
const NEAREST = 0.13;

/** From a round number below all values, 0 included, to a round one above. */
export function linearScale(values: readonly number[]): Scale {
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const step = roundStep((most - least) / PARTS || 1);
  const [first, last] = [Math.floor(least / step), Math.max(1, Math.ceil(most / step))];
  const at = (value: number): number => (value / step - first) / (last - first);
  const ticks = Array.from({ length: last - first + 1 }, (_, place) => ({ at: place / (last - first), text: shortNumber((first + place) * step) }));
  return { at, ticks };
}

/** Equal ratios are equal distances. What is not above 0, such as a lag of something that came early, is at the start, which then says so. */
export function logScale(values: readonly number[]): Scale {
  const known = [...new Set(values.filter((value) => value > 0))].sort((one, other) => one - other);
  const decades = decadesAround(known[0] ?? 1, known.at(-1) ?? 10);
  const places = known.length > 0 && known.length <= MOST_OWN_TICKS ? known : decades;
  const [low, high] = [Math.log(places[0] ?? 1), Math.log(places.at(-1) ?? 10)];
  // A single place is in the middle.
  const at = (value: number): number => (high === low ? 0.5 : value > 0 ? (Math.log(value) - low) / (high - low) : 0);
  const first = values.every((value) => value > 0) ? '' : '≤ ';
  const ticks: { at: number; text: string }[] = [];
  for (const value of places) {
    if (at(value) - (ticks.at(-1)?.at ?? -1) >= NEAREST) ticks.push({ at: at(value), text: `${ticks.length === 0 ? first : ''}${shortNumber(value)}` });
  }
  return { at, ticks };
}

function decadesAround(least: number, most: number): readonly number[] {
  const [first, last] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
  return Array.from({ length: last - first + 1 }, (_, place) => 10 ** (first + place));
}

/** The next 1, 2 or 5 times a power of ten. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power;
}

const [SHORT, WHOLE, COMPACT] = [
  new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 }),
  new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 }),
  new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 4 }),
];
const THREE_DIGITS = new Intl.NumberFormat('en-US', { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });

/** As short as it can be said, for the labels of an axis: "0.5", "4,096", "500K". */
export function shortNumber(value: number): string {
  const size = Math.abs(value);
  return (size < 1000 ? SHORT : size < 10_000 ? WHOLE : COMPACT).format(value);
}

/** What was measured, with three digits at least, so that it can be compared: "0.500", "12,346", "1.235M". */
export function measuredNumber(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  return (size < 1000 ? THREE_DIGITS : size < 1_000_000 ? WHOLE : COMPACT).format(value);
}
