import type { Access } from '../../../shared/environment.ts';
import { DATA_API } from './data-api.ts';
import type { Connector } from './connector.ts';

export function connectorOf(access: Access): Connector {
  if (access !== 'data-api')
    throw new Error(`access: wanted data-api, for which this function was bundled, got ${access}`);
  return DATA_API;
}
