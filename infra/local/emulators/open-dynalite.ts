import type { Server } from 'node:http';
import dynalite from 'dynalite';
import { mendLimits } from './dynamo-limits.ts';

/** Opens DynamoDB (dynalite, with fixes), not listening. Without a path, tables are in memory. */
export function openDynalite(path?: string): Server {
  mendLimits();
  return dynalite({ ...(path === undefined ? {} : { path }), createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
}
