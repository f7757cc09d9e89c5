import { useEffect, useState } from 'preact/hooks';

export const FIRST_SCREEN = 'overview';

/** The datastore of an address that names none. */
let usual = '';

export function beginAt(datastore: string): void {
  usual = datastore;
}

/** The screen that the address names: `#/trips/row/6e3a…?column=BASE`. A link shows the same screen to others. */
type Address = ReturnType<typeof parseAddress>;

function parseAddress() {
  const [path = '', query = ''] = location.hash.replace(/^#/u, '').split('?', 2);
  const [datastore = usual, screen = '', ...parts] = path.split('/').filter(Boolean).map(decoded);
  return { datastore, screen: screen === '' ? FIRST_SCREEN : screen, parts, query: new URLSearchParams(query) };
}

/** Returns an invalid encoding unchanged. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the address of a screen, without undefined and empty values. */
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

/** Changes the query of the address, without a new entry in the browser's history. */
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
