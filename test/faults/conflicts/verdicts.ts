import type { Answer } from '../load/ask.ts';
import type { Sample } from '../load/check-back.ts';
import { addressOf, markOf, storedLogs } from '../stored-cells.ts';
import { rowKeyOf } from '../../../shared/address.ts';
import { decodeBody } from '../../../shared/body/codec.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { onEachGroup, rowsOf } from '../../support/past-the-store.ts';
import { DATASTORE, type GroupAccess } from '../../support/store-access.ts';
import { noOutcomes } from '../load/ledger.ts';

/** @param cutHolder a group promoted without its last changes: withdrawn copies are there again */
export function judge(answers: readonly Answer[], { stored, buffered }: KeptBodies, cutHolder?: string) {
  const byMark = [...Map.groupBy(answers, ({ mark }) => mark)].map(([mark, some]) => ({
    mark,
    address: some[0] ? addressOf(some[0]) : '',
    outcomes: new Set(some.map(({ outcome }) => outcome)),
    times: some.filter(({ outcome }) => outcome === 'stored').length,
    hintFailed: some.some((answer) => answer.hintFailed),
  }));
  const verdicts = {
    storedGone: 0,
    storedTwice: 0,
    storedBeforeGone: 0,
    bufferedGone: 0,
    refusedStored: 0,
    refusedCopied: 0,
    refusedCopiedAfterFailure: 0,
  };
  const cells = noOutcomes();
  const goneFor = { stored: 0, buffered: 0, other: 0 };
  const winners = new Map(
    byMark.filter(({ mark }) => stored.has(mark)).map(({ address, outcomes }) => [address, outcomes]),
  );
  for (const { mark, address, outcomes, times, hintFailed } of byMark) {
    for (const outcome of outcomes) cells[outcome] += 1;
    const isThere = stored.has(mark);
    const copies = buffered.get(mark) ?? [];
    if (outcomes.has('stored') && !isThere) {
      verdicts.storedGone += 1;
      const winner = winners.get(address);
      goneFor[winner?.has('stored') ? 'stored' : winner?.has('buffered') ? 'buffered' : 'other'] += 1;
    }
    if (times > 1) verdicts.storedTwice += 1;
    if (outcomes.has('stored_before') && !isThere) verdicts.storedBeforeGone += 1;
    if (outcomes.has('buffered') && !isThere && !copies.some(({ state }) => state === 'conflict'))
      verdicts.bufferedGone += 1;
    // A writer with any other answer has, or may have, a copy of the same body.
    if (outcomes.size > 1 || !outcomes.has('conflict')) continue;
    if (isThere) verdicts.refusedStored += 1;
    if (copies.length === 0) continue;
    const isExcused = hintFailed || copies.every(({ holder }) => holder === cutHolder);
    verdicts[isExcused ? 'refusedCopiedAfterFailure' : 'refusedCopied'] += 1;
  }
  return { ...verdicts, goneFor, cells };
}

/** @param explained whether a stored cell of this shard may be missing at this time, in epoch milliseconds */
export function judgeSamples(samples: readonly Sample[], explained: (shard: number, at: number) => boolean) {
  const missing = samples.filter(({ seen }) => seen === 'missing');
  const meanwhile = missing.filter(({ shard, at }) => explained(shard, at)).length;
  return {
    samples: samples.length,
    changed: samples.filter(({ seen }) => seen === 'other').length,
    missing: missing.length - meanwhile,
    missingMeanwhile: meanwhile,
  };
}

interface Buffered {
  readonly holder: string;
  readonly state: 'waiting' | 'conflict' | 'parked';
}

type KeptBodies = Awaited<ReturnType<typeof keptBodies>>;

export async function keptBodies(groups: readonly GroupAccess[]) {
  const buffered = new Map<number, Buffered[]>();
  const sql = 'SELECT row_key, column_name, ref_key, body, state FROM `schemaless`.buffer WHERE datastore = ?';
  await onEachGroup(groups, async (client, holder) => {
    for (const [rowKey, column, refKey, body, state] of await rowsOf(client, sql, [DATASTORE])) {
      const address = { row_key: rowKeyOf(toBytes(rowKey)), column_name: toText(column), ref_key: toNumber(refKey) };
      const mark = markOf({ ...address, body: decodeBody(toBytes(body)) });
      buffered.set(mark, [...(buffered.get(mark) ?? []), { holder, state: String(state) as Buffered['state'] }]);
    }
  });
  const logs = await storedLogs(groups);
  return { stored: new Set(logs.flatMap(({ marks }) => marks)), buffered };
}
