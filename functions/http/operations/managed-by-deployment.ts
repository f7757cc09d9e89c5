import { DEFINITIONS } from '../../../shared/api/definitions.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { HttpOperation } from '../answering.ts';

/** Refuses the operations that this environment does not have, by method and path. */
export const MANAGED_BY_DEPLOYMENT: Readonly<Record<string, HttpOperation<unknown>>> = Object.fromEntries(
  Object.values(DEFINITIONS).map(({ method, path }) => [`${method} ${path}`, refuse]),
);

async function refuse(): Promise<never> {
  throw new SchemalessError(
    'managed_by_deployment',
    'Not in this environment: datastores, indexes and triggers are made and deleted by a deployment',
  );
}
