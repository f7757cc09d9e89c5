import type { Access } from '../../shared/environment.ts';
import { DATA_API } from './data-api.ts';
import { MYSQL } from './mysql.ts';
import type { Way } from './way.ts';

/** The way of an access. Bundles hold `only-mysql.ts` or `only-data-api.ts` in place of this file: see `imports` in package.json. */
export function wayOf(access: Access): Way {
  return access === 'mysql' ? MYSQL : DATA_API;
}
