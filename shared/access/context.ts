import type { GroupAddress, TopologySource } from '../topology/topology.ts';
import { openGroups, type Groups } from './groups.ts';
import { type Admission, openAdmission } from './admission.ts';
import type { Role } from '../cell.ts';
import type { SqlClient } from '../sql/client.ts';
import type { Guard } from '../sql/guarded-client.ts';
import type { OpenCircuits } from './open-circuits.ts';

/** Something worth a metric or a log line. Never holds a cell's body. */
export type StoreEvent =
  /** A circuit breaker opened: found by this instance, or by another that told it. */
  | {
      readonly kind: 'circuit_opened';
      readonly group: string;
      readonly role: Role;
      readonly found: 'here' | 'elsewhere';
    }
  | { readonly kind: 'primary_failed' | 'secondary_failed'; readonly group: string; readonly error: unknown }
  /** A shard takes none of its buffered writes: its primary refuses them, or it is closed. The other shards go on. */
  | {
      readonly kind: 'shard_refused';
      readonly group: string;
      readonly datastore: string;
      readonly shard: number;
      readonly error: unknown;
    }
  /**
   * Two bodies may have been acknowledged for an address, and an operator has to say which: its shard takes no appends
   * until then.
   */
  | {
      readonly kind: 'undecided';
      readonly datastore: string;
      readonly shard: number;
      readonly row_key: string;
      readonly column_name: string;
      readonly ref_key: number;
    }
  /** Index entries that a write could not keep; the repair makes them good. */
  | { readonly kind: 'index_missed'; readonly group: string; readonly error: unknown }
  /** An append met its own added id: the log's numbering was raced, which the lock row forbids. Expected never. */
  | { readonly kind: 'added_id_taken'; readonly datastore: string; readonly shard: number }
  | { readonly kind: 'topology_refreshed'; readonly datastore: string; readonly shard: number };

export interface DeploymentOptions {
  readonly topology: TopologySource;
  readonly connect: (group: GroupAddress) => SqlClient;
  /** Secondaries that take a copy of each write first: 0 to the number of groups less two. */
  readonly bufferCopies: number;
  /** What each group's client is put behind. @default circuit breakers with BREAKER_SETTINGS */
  readonly guard?: Guard;
  /** Lets requests of a group in. @default by ADMISSION_SETTINGS */
  readonly admit?: Admission;
  /** How instances learn of each other's open circuits. */
  readonly circuits?: OpenCircuits;
  readonly report?: (event: StoreEvent) => void;
}

/** What every part of the real store works with. */
export interface StoreContext {
  readonly topology: TopologySource;
  readonly groups: Groups;
  /** Secondaries that take a copy of each write before its primary is tried. */
  readonly bufferCopies: number;
  /** Bounds the requests of each group that are under way at once. */
  readonly admit: Admission;
  readonly report: (event: StoreEvent) => void;
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
      ...(guard ? { guard } : {}),
      ...(circuits ? { circuits } : {}),
      onOpen: (group, role, found) => report({ kind: 'circuit_opened', group, role, found }),
    }),
    bufferCopies,
    admit,
    report,
  };
}
