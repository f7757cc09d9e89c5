/** This machine's own names and addresses, and a container's name for its host. */
const OWN = /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|host\.docker\.internal)$/iu;

/**
 * Returns why a request for another host name is refused. A page whose name resolves to the loopback address has the
 * same origin as the API, so no rule for other origins stops it.
 * HTTP/1.0 programs send no host.
 */
export function whyOtherHost(host: string | undefined): string | undefined {
  if (host === undefined || OWN.test(host.replace(/:\d*$/u, ''))) return undefined;
  return `host: wanted localhost or 127.0.0.1, got ${JSON.stringify(host.slice(0, 100))}`;
}
