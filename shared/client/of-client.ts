/** A client with what a function needs. The compiler refuses an opened datastore with a text that says what to do. */
export type OfClient<Given, Needed> = Given &
  (Given extends { readonly definition: unknown }
    ? 'call the method of this name of the opened datastore, or give its `client`'
    : Needed);

/** Returns the client. Throws a TypeError for an opened datastore, in programs without type checks. */
export function ofClient<Needed>(client: unknown, method: string): Needed {
  if (!('definition' in Object(client))) return client as Needed;
  throw new TypeError(
    `${method}: wanted a client, got an opened datastore: call store.${method}(…), or give store.client`,
  );
}
