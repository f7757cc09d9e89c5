import { join } from 'node:path';
import type { AcksControls } from '../acks/acks-controls.ts';
import { judgeAnswers } from '../acks/judge-answers.ts';
import { readCellsThere } from '../acks/stored-cells.ts';
import { dropUniqueKeys } from '../acks/without-unique-keys.ts';
import { writeThrough } from '../acks/write-through.ts';
import { startCluster } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { compareKept, storedLogs } from '../stored-logs.ts';
import { waitOut, type Waited } from './wait-out.ts';
import { CUT_SHARE, openWeather } from './weather.ts';

const GROUPS = 3;
const SHARDS = 12;
const CELLS = 1500;

/**
 * The same weather where nobody waits for a cluster that resumes; the same cuts where nobody tries again what ended
 * unclear, then where it is tried again on tables without unique key.
 */
export async function carryOutControls({ folder, engine, seed, signal }: RunWorld): Promise<AcksControls & { readonly waited: Waited }> {
  await using cluster = await startCluster({ folder: join(folder, 'control'), engine, groups: GROUPS, readers: 0, shards: SHARDS, bufferCopies: 1 });
  const { groups } = cluster.access;
  await using weather = await openWeather(groups, seed);
  const access: StoreAccess = { ...cluster.access, dataApi: weather.url };
  const waited = await waitOut({ ...access, dataApiSettings: { waitMs: 0 } }, weather, signal);

  weather.faults.set({ kind: 'cut-after-commit', share: CUT_SHARE });
  const common = { access, otherShare: 0, history: undefined };
  const once = await writeThrough({ ...common, seed: `${seed} once`, triesAgain: false, run: 'data-api/control' }, CELLS, signal);
  const { untold } = judgeAnswers(once.answers, await readCellsThere(groups));

  await dropUniqueKeys(groups);
  const again = await writeThrough({ ...common, seed: `${seed} no key`, triesAgain: true, run: 'data-api/control' }, CELLS, signal);
  const { doubled } = compareKept(again.written.acked, await storedLogs(groups));
  const { untrue } = judgeAnswers(again.answers, await readCellsThere(groups));
  return { untold, ofCells: once.written.acked.length, doubled, untrue, waited };
}
