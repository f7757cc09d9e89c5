import type { LocalStack } from './running-stack.ts';

/** Loads nothing but the function's module: see `loadedTrigger`. */
const NO_MESSAGES = JSON.stringify({ Records: [] });

/** Loads the functions of all triggers. Returns a line for each that cannot be loaded: every message fails on it. */
export async function loadTriggers({
  datastores,
  functions,
}: Pick<LocalStack, 'datastores' | 'functions'>): Promise<readonly string[]> {
  const called = new Map(functions.status().map(({ title, arn }) => [title, arn]));
  const lines = await Promise.all(
    datastores.flatMap(({ name: datastore, triggers }) =>
      triggers.map(async ({ name }): Promise<readonly string[]> => {
        const arn = called.get(`trigger-${datastore}-${name}`);
        if (arn === undefined) return [];
        try {
          await functions.invoke(arn, NO_MESSAGES);
          return [];
        } catch (error) {
          return [
            `trigger ${name} of ${datastore} fails for every cell: ${error instanceof Error ? error.message : String(error)}`,
          ];
        }
      }),
    ),
  );
  return lines.flat();
}
