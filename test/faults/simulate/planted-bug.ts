import type { SqlClient } from '../../../shared/sql/client.ts';
import type { TopologySource } from '../../../shared/topology/topology.ts';
import type { ServerFlaws } from './servers/plan.ts';
import type { SimulatedGroup } from './servers/simulated-group.ts';

/**
 * A bug of a kind that such a store can have. The simulation must find each: a judge that never finds anything proves
 * nothing.
 */
export interface PlantedBug {
  readonly name: string;
  readonly what: string;
  /** Stands between writers and a group. @default the client itself */
  readonly writing?: (client: SqlClient, group: SimulatedGroup) => SqlClient;
  /** Stands between the drain and the groups; created for each simulation. @default the client itself */
  readonly draining?: () => (client: SqlClient, group: SimulatedGroup) => SqlClient;
  readonly flaws?: ServerFlaws;
  /** Stands between readers of logs and the groups. @default the client itself */
  readonly reading?: (client: SqlClient) => SqlClient;
  /** Stands between the drain and what it reads of the topology. @default the topology itself */
  readonly topology?: (source: TopologySource) => TopologySource;
  /** Whether log readers stop at holes. @default true */
  readonly stopsAtHoles?: false;
  /** Whether the start of a follower is saved before it follows. @default true */
  readonly keepsStarts?: false;
}
