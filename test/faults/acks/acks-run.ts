import { openForwarder } from '../../../infra/local/mysql/forwarder.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { grouped } from '../fault-run.ts';
import { isTold } from '../load/ask.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { addressOf, type CellsThere } from '../stored-cells.ts';
import { judgeAnswers } from './judge-answers.ts';
import { killInstances, type Killed } from './killed-instances.ts';
import { judgeTruth, MIX, toldCheck, truthControls, wholeCheck, writeUntilTold } from './told-truth.ts';

const CUT_SHARE = 0.1;
/** The milliseconds between a server's commit and its answer, in which processes are killed. */
const HELD_MS = 20;
const LEAST_IN_DOUBT = 50;

export const acksRun = stagedRun({
  name: 'acks',
  promise: 'A lost acknowledgement is safe: a retry returns the truth',
  fault: `${CUT_SHARE * 100} % of the answers of writers cut off, to appends and buffered copies alike; processes killed in the middle of writes`,
  control: 'no retry of unclear writes; tables without unique key, with retries',
  servers: { shards: 48 },
  controlServers: { readers: 0, shards: 12 },
  async real(stage) {
    const { access, hold } = await cutAnswers(stage);
    await stage.drain({ access });
    const load = await writeUntilTold(stage, access);
    stage.say(`${grouped(load.written.acked.length)} cells acknowledged; now processes are killed`);
    hold(HELD_MS);
    const { datastore } = await stage.open({ groups: access.groups, sql: {} });
    const { folder } = stage.cluster;
    const killed = await killInstances({ ...stage.world, folder, access, datastore, mix: MIX });
    hold(0);
    stage.say(`${killed.kills} processes killed`);
    const truth = await judgeTruth(stage, [load, killed], load);
    const doubts = judgeInDoubt(killed, truth.there);
    return { ...truth, circuitsOpened: load.openings.length, killed, doubts };
  },
  async without(stage) {
    return await truthControls(stage, (await cutAnswers(stage)).access);
  },
  judge(real, control) {
    const { judged, conflicts, killed, doubts } = real;
    const { inDoubt, there, unsettled } = doubts;
    return {
      checks: [
        toldCheck(judged, control),
        wholeCheck(real, control, judged.bufferedThere > 0),
        {
          what: 'cells in doubt after kills that were not settled by retries; control: no retries',
          result: `${unsettled} of ${grouped(inDoubt)}`,
          bar: `0 of at least ${LEAST_IN_DOUBT}`,
          passed: unsettled === 0 && inDoubt >= LEAST_IN_DOUBT,
          control: { result: `${grouped(there)} there, unconfirmed`, failed: there > 0 },
        },
      ],
      notes: [
        `circuits opened ${real.circuitsOpened} times`,
        `answered 'buffered' though the cell was on the primary, and told the truth when asked again: ${judged.bufferedThere}`,
        `other bodies that were buffered, and kept as conflicts: ${conflicts.kept}; processes killed: ${killed.kills}`,
        ...judged.examples,
        ...doubts.examples,
      ],
    };
  },
});

/**
 * Stands between the store and the groups' writers. A share of the answers never arrives: the connection breaks after
 * the server has done or refused the statement. Or else each answer is late.
 */
async function cutAnswers(stage: Stage) {
  const forwarders = await Promise.all(
    stage.access.groups.map(({ writer }) => openForwarder({ host: writer.host, port: 0, target: () => writer })),
  );
  for (const forwarder of forwarders) stage.use({ [Symbol.asyncDispose]: () => forwarder.close() });
  const hold = (milliseconds: number): void => {
    const fault =
      milliseconds > 0
        ? ({ kind: 'delay', milliseconds } as const)
        : ({ kind: 'cut-answers', share: CUT_SHARE } as const);
    for (const forwarder of forwarders) forwarder.setFault(fault);
  };
  hold(0);
  const writers = forwarders.map(({ host, port }) => ({ host, port }));
  const groups = stage.access.groups.map((group, position) => ({
    ...group,
    writer: writers[position] ?? group.writer,
  }));
  const access: StoreAccess = { ...stage.access, groups };
  return { access, hold };
}

function judgeInDoubt({ inDoubt, answers }: Killed, there: CellsThere) {
  const told = new Set(answers.filter(isTold).map(addressOf));
  const { untrue, examples } = judgeAnswers(answers, there);
  return {
    inDoubt: inDoubt.length,
    /** Those that were on the primary when the process died. */
    there: inDoubt.filter(({ cell, diedAt }) => (there.get(addressOf(cell))?.createdAt ?? Infinity) < diedAt).length,
    /** Those without an answer after all, and untrue answers. */
    unsettled: inDoubt.filter(({ cell }) => !told.has(addressOf(cell)) || !there.has(addressOf(cell))).length + untrue,
    examples,
  };
}
