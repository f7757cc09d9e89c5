/** This machine's own names and addresses, and a container's name for its host. */
const OWN = /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|host\.docker\.internal)$/iu;

/** Returns why a request is refused: a page whose name leads to this machine has the API's origin. */
export function whyOtherHost(host: string | undefined): string | undefined {
  if (host === undefined || OWN.test(host.replace(/:\d*$/u, ''))) return undefined;
  return `host: wanted localhost or 127.0.0.1, got ${JSON.stringify(host.slice(0, 100))}`;
}
