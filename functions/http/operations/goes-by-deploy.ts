import { DEFINITIONS } from '../../../shared/api/definitions.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { HttpOperation } from '../answering.ts';

/** Answers the operations that not every environment has, by method and path. */
export const GOES_BY_DEPLOY: Readonly<Record<string, HttpOperation<unknown>>> = Object.fromEntries(
  Object.values(DEFINITIONS).map(({ method, path }) => [`${method} ${path}`, refuse]),
);

async function refuse(): Promise<never> {
  throw new SchemalessError(
    'goes_by_deploy',
    'Not in this environment: datastores, indexes and triggers are made and deleted by a deployment',
  );
}
