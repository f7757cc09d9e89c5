import { DataApiException } from './exceptions.ts';

/**
 * What can happen to a call.
 *
 * - `resuming`: the cluster was paused, and the call refused before anything was done.
 * - `unavailable`: there is no writer; the same.
 * - `throttled`: too many calls; the same.
 * - `cut-after-commit`: the statement, batch or commit was done, and the connection is cut in place of an answer.
 */
export const FAULT_KINDS = ['resuming', 'unavailable', 'throttled', 'cut-after-commit'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** `count`: the next so many calls; `share`: the part of the calls, 0 to 1, until it is set again. */
export type FaultOrder = { readonly kind: FaultKind } & (
  | { readonly share: number; readonly count?: never }
  | { readonly count: number; readonly share?: never }
);

export interface FaultStatus {
  readonly kind: FaultKind;
  readonly share: number;
  readonly count: number;
  /** How often it has happened. */
  readonly happened: number;
}

const REFUSALS: Readonly<Record<Exclude<FaultKind, 'cut-after-commit'>, () => DataApiException>> = {
  resuming: () =>
    new DataApiException(
      'DatabaseResumingException',
      'The Aurora DB instance db-LOCAL is resuming after being auto-paused. Please wait a few seconds and try again.',
    ),
  unavailable: () =>
    new DataApiException('DatabaseUnavailableException', "The writer instance in the DB cluster isn't available."),
  throttled: () => new DataApiException('ThrottlingException', 'Rate exceeded'),
};
const REFUSAL_KINDS = ['resuming', 'unavailable', 'throttled'] as const;

/** The faults of an endpoint. Which calls a share hits depends on the seed and on their order alone. */
export class Faults {
  readonly #states = new Map<FaultKind, { share: number; count: number; happened: number }>(
    FAULT_KINDS.map((kind) => [kind, { share: 0, count: 0, happened: 0 }]),
  );
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
  }

  /** Throws a RangeError that names the member. */
  set(order: FaultOrder): void {
    const { kind, share, count } = checkFault(order);
    const state = this.#stateOf(kind);
    if (share !== undefined) state.share = share;
    if (count !== undefined) state.count = count;
  }

  clear(): void {
    for (const state of this.#states.values()) Object.assign(state, { share: 0, count: 0 });
  }

  status(): FaultStatus[] {
    return FAULT_KINDS.map((kind) => ({ kind, ...this.#stateOf(kind) }));
  }

  /** Asked before a call is done. Throws the `DataApiException` that it is refused with. */
  refuse(): void {
    for (const kind of REFUSAL_KINDS) if (this.#happens(kind)) throw REFUSALS[kind]();
  }

  /** Asked after a call that may have committed. */
  cuts(): boolean {
    return this.#happens('cut-after-commit');
  }

  #happens(kind: FaultKind): boolean {
    const state = this.#stateOf(kind);
    const happens = state.count > 0 || (state.share > 0 && this.#random() < state.share);
    if (!happens) return false;
    state.count = Math.max(0, state.count - 1);
    state.happened += 1;
    return true;
  }

  #stateOf(kind: FaultKind): { share: number; count: number; happened: number } {
    const state = this.#states.get(kind);
    if (!state) throw new Error(`no fault ${kind}`);
    return state;
  }
}

/** Throws a RangeError that names the member, what was wanted and what came. */
export function checkFault(order: unknown): FaultOrder {
  const { kind, share, count } = Object(order) as Readonly<Record<string, unknown>>;
  if (!(FAULT_KINDS as readonly unknown[]).includes(kind))
    throw new RangeError(`kind: wanted one of ${FAULT_KINDS.join(', ')}, got ${show(kind)}`);
  if ((share === undefined) === (count === undefined)) throw new RangeError('share, count: wanted one of them');
  if (share !== undefined && !(typeof share === 'number' && share >= 0 && share <= 1))
    throw new RangeError(`share: wanted a number from 0 to 1, got ${show(share)}`);
  if (count !== undefined && !(Number.isSafeInteger(count) && (count as number) >= 0))
    throw new RangeError(`count: wanted a whole number from 0 on, got ${show(count)}`);
  return order as FaultOrder;
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing';
}

/** Numbers from 0 to 1 that the seed decides (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
