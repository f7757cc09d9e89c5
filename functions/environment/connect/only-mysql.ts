import type { Access } from '../../../shared/environment.ts';
import { MYSQL } from './mysql.ts';
import type { Connector } from './connector.ts';

export function connectorOf(access: Access): Connector {
  if (access !== 'mysql') throw new Error(`access: wanted mysql, for which this function was bundled, got ${access}`);
  return MYSQL;
}
