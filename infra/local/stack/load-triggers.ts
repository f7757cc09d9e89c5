import type { LocalStack } from '../running/running-stack.ts';
import { messageOf } from '../message-of.ts';

/** Loads the function's module and nothing else: see `loadedTrigger`. */
const NO_MESSAGES = JSON.stringify({ Records: [] });

/** Loads the functions of triggers. Returns a line for each that cannot be loaded. */
export async function loadTriggers(
  { datastores, functions }: Pick<LocalStack, 'datastores' | 'functions'>,
  titles?: readonly string[],
): Promise<readonly string[]> {
  const called = new Map(functions.status().map(({ title, arn }) => [title, arn]));
  const lines = await Promise.all(
    datastores.flatMap(({ name: datastore, triggers }) =>
      triggers.map(async ({ name }): Promise<readonly string[]> => {
        const title = `trigger-${datastore}-${name}`;
        const arn = called.get(title);
        if (arn === undefined || titles?.includes(title) === false) return [];
        try {
          await functions.invoke(arn, NO_MESSAGES);
          return [];
        } catch (error) {
          return [`trigger ${name} of ${datastore} fails for every cell: ${messageOf(error)}`];
        }
      }),
    ),
  );
  return lines.flat();
}
