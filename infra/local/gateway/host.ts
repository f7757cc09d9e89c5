/** Names of this machine to itself, `localhost` among them, and its addresses; what a container calls its host. */
const OWN = /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|host\.docker\.internal)$/iu;

/**
 * What to tell a request that asks for a host by a name which is not this machine's; undefined for all others. A web
 * page that has its own name resolved to the loopback address is of the same origin as what answers there: no rule for
 * other origins holds it back, and it would read and write all.
 *
 * @param host as the request says it, with its port @default a program of HTTP/1.0, no browser
 */
export function whyOtherHost(host: string | undefined): string | undefined {
  if (host === undefined || OWN.test(host.replace(/:\d*$/u, ''))) return undefined;
  return `host: wanted localhost or 127.0.0.1, got ${JSON.stringify(host.slice(0, 100))}`;
}
