import type { Forwarder } from './forwarder.ts';
import { openForwarderApart, type ApartOptions } from './forwarders-apart.ts';

const ATTEMPTS = 20;

interface EndpointWish {
  readonly host: string;
  readonly target: ApartOptions['target'];
}

/** Opens the forwarders on one port: the given one if it is free on every address, else another. */
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
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EADDRNOTAVAIL') throw withoutAliases(wishes, error);
      if (code !== 'EADDRINUSE' || attempt === ATTEMPTS) throw error;
    }
  }
}

/** macOS and BSD have 127.0.0.1 alone until aliases are added. */
function withoutAliases(wishes: readonly EndpointWish[], cause: unknown): Error {
  const hosts = wishes.map(({ host }) => host).join(' ');
  return new Error(
    `this system has no loopback addresses ${hosts}, at which endpoints of servers are to listen; until its next start it has them after\n  for host in ${hosts}; do sudo ifconfig lo0 alias $host up; done`,
    { cause },
  );
}
