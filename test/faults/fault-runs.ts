import { acksRun } from './acks/acks-run.ts';
import { awayRun } from './away/away-run.ts';
import { buildRun } from './build/build-run.ts';
import { conflictsRun } from './conflicts/conflicts-run.ts';
import { damageRun } from './damage/damage-run.ts';
import { dataApiRun } from './data-api/data-api-run.ts';
import { erasuresRun } from './erasures/erasures-run.ts';
import type { FaultRun } from './fault-run.ts';
import { forgettingRun } from './forgetting/forgetting-run.ts';
import { freezeRun } from './freeze/freeze-run.ts';
import { growthRun } from './growth/growth-run.ts';
import { haltedRun } from './halted/halted-run.ts';
import { hostileRun } from './hostile/hostile-run.ts';
import { killRun } from './kill/kill-run.ts';
import { lockedRun } from './locked/locked-run.ts';
import { lostDiskRun } from './lost-disk/lost-disk-run.ts';
import { logRun } from './log/log-run.ts';
import { quietRun } from './quiet/quiet-run.ts';
import { racesRun } from './races/races-run.ts';
import { oldTopologyRun } from './old-topology/old-topology-run.ts';
import { poisonRun } from './poison/poison-run.ts';
import { outageRun } from './outage/outage-run.ts';
import { movesRun } from './moves/moves-run.ts';
import { overloadRun } from './overload/overload-run.ts';
import { pausedRun } from './paused/paused-run.ts';
import { readersDownRun } from './readers-down/readers-down-run.ts';
import { replicationRun } from './replication/replication-run.ts';
import { refusedRun } from './refused/refused-run.ts';
import { reverseRun } from './reverse/reverse-run.ts';
import { restoreRun } from './restore/restore-run.ts';
import { retentionRun } from './retention/retention-run.ts';
import { restartRun } from './restart/restart-run.ts';
import { simulateRun } from './simulate/simulate-run.ts';
import { soakRun } from './soak/soak-run.ts';
import { tailersRun } from './tailers/tailers-run.ts';
import { triggersRun } from './triggers/triggers-run.ts';

/**
 * Every fault run there is, in the order in which they are begun; those that have to be alone come after the others.
 */
export const FAULT_RUNS: readonly FaultRun[] = [
  // The longest begin first, since others go beside them.
  reverseRun,
  soakRun,
  triggersRun,
  logRun,
  killRun,
  lostDiskRun,
  refusedRun,
  conflictsRun,
  acksRun,
  dataApiRun,
  damageRun,
  oldTopologyRun,
  hostileRun,
  restartRun,
  restoreRun,
  racesRun,
  buildRun,
  poisonRun,
  haltedRun,
  simulateRun,
  replicationRun,
  outageRun,
  awayRun,
  readersDownRun,
  erasuresRun,
  forgettingRun,
  retentionRun,
  pausedRun,
  lockedRun,
  freezeRun,
  quietRun,
  overloadRun,
  movesRun,
  growthRun,
  tailersRun,
];

/**
 * Those that take under four minutes together, and judge no latency: they hold also where other work is done beside
 * them.
 */
export const SHORT_RUNS: readonly string[] = [acksRun, lostDiskRun].map(({ name }) => name);
