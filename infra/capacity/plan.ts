import type { Assumptions } from './assumptions.ts';
import type { Database } from './database.ts';
import type { Load } from './load.ts';
import type { StandingParts } from './standing-parts.ts';
import type { StateTraffic } from './state-table.ts';
import type { Traffic } from './traffic.ts';

/** What a load needs. */
export interface Needs {
  readonly load: Load;
  readonly assumptions: Assumptions;
  readonly traffic: Traffic;
  readonly database: Database;
  readonly state: StateTraffic;
  readonly standing: StandingParts;
}

export interface BillLine {
  readonly name: string;
  /** USD a month. */
  readonly usd: number;
  /** Of what answers requests and is called for cells, whatever database holds them. @default false */
  readonly inFront?: boolean;
}

/** What a load needs, and costs. */
export interface Plan extends Needs {
  readonly bill: readonly BillLine[];
  /** USD a month, all lines. */
  readonly monthlyUsd: number;
  /** Aurora bills every I/O (`standard`) or none at higher prices; what is cheaper for this load is in the bill. */
  readonly storage: 'standard' | 'io-optimized';
}
