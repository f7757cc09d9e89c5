import type { Server } from 'node:http';
import dynalite from 'dynalite';
import { mendLimits } from './dynamo-limits.ts';

/**
 * DynamoDB (dynalite, mended) that makes and deletes tables at once; it does not listen yet.
 *
 * @param path the folder of its tables @default in memory
 */
export function openDynalite(path?: string): Server {
  mendLimits();
  return dynalite({ ...(path === undefined ? {} : { path }), createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
}
