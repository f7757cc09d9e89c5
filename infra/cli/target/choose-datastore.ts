import { schemalessClient } from '../../../shared/client/client.ts';
import type { ClientOptions } from '../../../shared/client/options.ts';
import { DATASTORE_NAME } from '../../../shared/definitions/definitions.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { CommandError } from '../command-error.ts';

/** No datastore can have this name, so that asking for it says which there are. */
const NONE = '-';
/** Every deployment brings it, for checks of itself. */
const SMOKE = 'smoke';

/** Returns an API's only datastore, `smoke` aside. Throws a CommandError that lists them otherwise. */
export async function onlyDatastore(options: Omit<ClientOptions, 'datastore'>): Promise<string> {
  const all = await datastoresThere(options);
  const [only, ...others] = all.filter((name) => name !== SMOKE || all.length === 1);
  if (only !== undefined && others.length === 0) return only;
  throw new CommandError(
    all.length === 0
      ? `datastore: wanted one, and ${options.url} has none`
      : `datastore: wanted one of ${all.join(', ')}, got none`,
    {
      ending: 'usage',
      cure:
        all.length === 0
          ? 'Define one: a folder with a datastore.yaml'
          : 'Name it: --datastore NAME, SCHEMALESS_DATASTORE, or `datastore` of the profile',
    },
  );
}

async function datastoresThere(options: Omit<ClientOptions, 'datastore'>): Promise<readonly string[]> {
  try {
    await schemalessClient({ ...options, datastore: NONE }).heads();
    return [];
  } catch (error) {
    if (!(error instanceof SchemalessError) || error.code !== 'unknown_datastore') throw error;
    const list = /^one of (.*)$/u.exec(error.details.wanted ?? '')?.[1] ?? '';
    return list.split(', ').filter((name) => DATASTORE_NAME.test(name));
  }
}
