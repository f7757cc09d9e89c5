import type { GroupAddress, TopologySource } from '../topology/topology.ts';
import { openGroups, type Groups } from './groups.ts';
import { type Admission, openAdmission } from './admission.ts';
import type { Role } from '../cell.ts';
import type { SqlClient } from '../sql/client.ts';
import { LongColumns } from '../sql/long-columns.ts';
import { Quarantine } from '../sql/quarantine.ts';
import type { Guard } from '../sql/guarded-client.ts';
import type { OpenCircuits } from './open-circuits.ts';

/** An event for metrics and logs. Never holds a cell's body. */
export type StoreEvent =
  | {
      readonly kind: 'circuit_opened';
      readonly group: string;
      readonly role: Role;
      readonly found: 'here' | 'elsewhere';
    }
  | { readonly kind: 'primary_failed' | 'secondary_failed'; readonly group: string; readonly error: unknown }
  /** A shard takes none of its hints: its primary refuses them, or it is closed. */
  | {
      readonly kind: 'shard_refused';
      readonly group: string;
      readonly datastore: string;
      readonly shard: number;
      readonly error: unknown;
    }
  /** Two bodies may have been acknowledged for an address: its shard takes no appends until an operator chooses. */
  | {
      readonly kind: 'in_doubt';
      readonly datastore: string;
      readonly shard: number;
      readonly row_key: string;
      readonly column_name: string;
      readonly ref_key: number;
    }
  /** A write could not maintain index entries; the repair will. */
  | { readonly kind: 'index_missed'; readonly group: string; readonly error: unknown }
  /** An append met its own added id, which the lock row forbids. Expected never. */
  | { readonly kind: 'added_id_taken'; readonly datastore: string; readonly shard: number }
  | { readonly kind: 'topology_refreshed'; readonly datastore: string; readonly shard: number };

export interface DeploymentOptions {
  readonly topology: TopologySource;
  readonly connect: (group: GroupAddress) => SqlClient;
  readonly bufferCopies: number;
  /** Guards each group's client. @default circuit breakers with BREAKER_SETTINGS */
  readonly guard?: Guard;
  readonly admit?: Admission;
  readonly circuits?: OpenCircuits;
  readonly report?: (event: StoreEvent) => void;
}

export interface StoreContext {
  readonly topology: TopologySource;
  readonly groups: Groups;
  readonly bufferCopies: number;
  readonly admit: Admission;
  readonly report: (event: StoreEvent) => void;
  readonly found: Found;
}

/** Caches findings of earlier requests. */
interface Found {
  /** `DATASTORE/SHARD` of shards that have erasures: few, and for ever. */
  readonly erasures: Set<string>;
  /** `DATASTORE/SHARD` of shards that stayed closed while a write waited. */
  readonly closed: Quarantine;
  readonly longColumns: LongColumns;
  /** Writes under way by index table. */
  readonly entries: Map<string, number>;
  /** Groups whose hints came late. */
  readonly late: Quarantine;
}

export function openContext(options: DeploymentOptions): StoreContext {
  const {
    topology,
    connect,
    bufferCopies,
    guard,
    circuits,
    admit = openAdmission(),
    report = () => undefined,
  } = options;
  return {
    topology,
    groups: openGroups(topology, connect, {
      guard,
      circuits,
      onOpen: (group, role, found) => report({ kind: 'circuit_opened', group, role, found }),
    }),
    bufferCopies,
    admit,
    report,
    found: {
      erasures: new Set(),
      closed: new Quarantine(),
      longColumns: new LongColumns(),
      entries: new Map(),
      late: new Quarantine(),
    },
  };
}
