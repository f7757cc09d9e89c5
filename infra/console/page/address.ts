import { useEffect, useState } from 'preact/hooks';

/** What the address says is to be seen: `#/trips/row/6e3a…?column=BASE`. A link to it shows the same to others. */
interface Address {
  /** Empty where there is none. */
  readonly datastore: string;
  readonly screen: string;
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export const FIRST_SCREEN = 'health';

/** The datastore that is meant where the address names none. */
let usual = '';

export function beginAt(datastore: string): void {
  usual = datastore;
}

function parseAddress(): Address {
  const [path = '', query = ''] = location.hash.replace(/^#/u, '').split('?', 2);
  const [datastore = usual, screen = '', ...parts] = path.split('/').filter(Boolean).map(decoded);
  return { datastore, screen: screen === '' ? FIRST_SCREEN : screen, parts, query: new URLSearchParams(query) };
}

/** A broken one is shown as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a screen; values that are undefined or empty are left out. */
export function link(
  path: readonly (string | number)[],
  query: Readonly<Record<string, string | number | undefined>> = {},
  datastore = parseAddress().datastore,
): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  const joined = [datastore, ...path].map((part) => encodeURIComponent(part)).join('/');
  return `#/${joined}${search === '' ? '' : `?${search}`}`;
}

export function go(href: string): void {
  location.hash = href;
}

/** Changes what the address says besides its path, without a step more to go back over. */
export function restate(changes: Readonly<Record<string, string | number | undefined>>): void {
  const { screen, parts, query } = parseAddress();
  const next: Record<string, string | number | undefined> = Object.fromEntries(query);
  history.replaceState(null, '', link([screen, ...parts], { ...next, ...changes }));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useAddress(): Address {
  const [address, setAddress] = useState(parseAddress);
  useEffect(() => {
    const changed = (): void => setAddress(parseAddress());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return address;
}
