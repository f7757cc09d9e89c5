import type { Access } from '../../../shared/environment.ts';
import { DATA_API } from './data-api.ts';
import { MYSQL } from './mysql.ts';
import type { Connector } from './connector.ts';

/** Bundles replace this file by `only-mysql.ts` or `only-data-api.ts`: see `imports` in package.json. */
export function connectorOf(access: Access): Connector {
  return access === 'mysql' ? MYSQL : DATA_API;
}
