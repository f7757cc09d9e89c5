/** Since when several bodies wait for one address, by this process's clock. */
export interface UndecidedSince {
  look(): UndecidedLook;
}

export interface UndecidedLook {
  hasWaited(address: string, bodyHash: Uint8Array): boolean;
  /** Ends the look; what it did not see is forgotten. */
  end(): void;
}

/** Longer than any request lives: its writer has been answered or died by then. */
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
