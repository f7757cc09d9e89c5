/** Since when bodies wait for an address that is not theirs alone, by this process's clock. */
export interface UndecidedSince {
  /** Begins a look at all addresses. */
  look(): UndecidedLook;
}

export interface UndecidedLook {
  /** Whether the body has been seen there for longer than a request lives. */
  hasWaited(address: string, bodyHash: Uint8Array): boolean;
  /** It came to its end: what was not seen in it is forgotten. */
  end(): void;
}

/** Longer than any request lives: whoever was under way with a body has been answered by then, or died. */
const REQUEST_LIFE_MS = 30_000;

export function undecidedSince(
  requestLifeMs = REQUEST_LIFE_MS,
  now: () => number = () => performance.now(),
): UndecidedSince {
  let known = new Map<string, number>();
  return {
    look() {
      const seen = new Map<string, number>();
      return {
        hasWaited(address, bodyHash) {
          const body = `${Buffer.from(bodyHash).toString('hex')} ${address}`;
          const since = known.get(body) ?? now();
          known.set(body, since);
          seen.set(body, since);
          return now() - since >= requestLifeMs;
        },
        end() {
          known = seen;
        },
      };
    },
  };
}
