import { DataApiException } from './exceptions.ts';

/**
 * Faults of a call. The first three refuse it before anything is done.
 *
 * - `resuming`: the cluster was paused.
 * - `unavailable`: there is no writer.
 * - `throttled`: too many calls.
 * - `cut-after-commit`: the statement is done, and the connection is cut instead of an answer.
 */
export const FAULT_KINDS = ['resuming', 'unavailable', 'throttled', 'cut-after-commit'] as const;
type FaultKind = (typeof FAULT_KINDS)[number];

/** `count`: the next so many calls; `share`: the part of the calls, 0 to 1, until it is set again. */
interface FaultOrder {
  readonly kind: FaultKind;
  readonly share?: number;
  readonly count?: number;
}

const REFUSALS = [
  [
    'resuming',
    'DatabaseResumingException',
    'The Aurora DB instance db-LOCAL is resuming after being auto-paused. Please wait a few seconds and try again.',
  ],
  ['unavailable', 'DatabaseUnavailableException', "The writer instance in the DB cluster isn't available."],
  ['throttled', 'ThrottlingException', 'Rate exceeded'],
] as const;

/** The faults of an endpoint. */
export class Faults {
  readonly #states = Object.fromEntries(
    FAULT_KINDS.map((kind) => [kind, { share: 0, count: 0, happened: 0 }]),
  ) as Record<FaultKind, { share: number; count: number; happened: number }>;
  readonly #random: () => number;

  /** `random` gives numbers from 0 to 1, which decide whom a share hits. */
  constructor(random: () => number) {
    this.#random = random;
  }

  set({ kind, ...amount }: FaultOrder): void {
    Object.assign(this.#states[kind], amount);
  }

  clear(): void {
    for (const state of Object.values(this.#states)) Object.assign(state, { share: 0, count: 0 });
  }

  happened(kind: FaultKind): number {
    return this.#states[kind].happened;
  }

  /** Called before a call is done. Throws the `DataApiException` that refuses it. */
  refuse(): void {
    for (const [kind, name, message] of REFUSALS) if (this.#happens(kind)) throw new DataApiException(name, message);
  }

  cuts(): boolean {
    return this.#happens('cut-after-commit');
  }

  #happens(kind: FaultKind): boolean {
    const state = this.#states[kind];
    const happens = state.count > 0 || (state.share > 0 && this.#random() < state.share);
    if (!happens) return false;
    state.count = Math.max(0, state.count - 1);
    state.happened += 1;
    return true;
  }
}
