import type { Forwarder } from './forwarder.ts';
import { openForwarderApart, type ApartOptions } from './forwarders-apart.ts';

const ATTEMPTS = 20;

export interface EndpointWish {
  readonly host: string;
  readonly target: ApartOptions['target'];
}

/**
 * Opens a forwarder for each wish, all on one port: the one given where it is free on every address, else another.
 */
export async function openOnOnePort(wishes: readonly EndpointWish[], port: number): Promise<readonly Forwarder[]> {
  for (let attempt = 1; ; attempt += 1) {
    const open: Forwarder[] = [];
    try {
      for (const wish of wishes) {
        open.push(await openForwarderApart({ ...wish, port: open[0]?.port ?? (attempt === 1 ? port : 0) }));
      }
      return open;
    } catch (error) {
      await Promise.all(open.map(async (forwarder) => await forwarder.close()));
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isTaken || attempt === ATTEMPTS) throw error;
    }
  }
}
