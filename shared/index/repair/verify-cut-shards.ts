import type { PhysicalIndex } from '../index-table.ts';
import { verifyIndex, type VerifyLocation } from '../verify.ts';
import { requireDatastore } from '../../access/groups.ts';
import { repairEpoch } from '../../access/raise-epoch.ts';
import { readDatastore } from '../../topology/dynamo-topology.ts';
import type { RepairWork } from './repair-work.ts';
import { noteVerified, verifiedEpochs } from './verified-epochs.ts';
import { decodeBody, encodeBody } from '../../body/codec.ts';
import type { Json } from '../../cell.ts';
import { readState, setState } from '../../dynamo/state-table.ts';

/** Rest before all is compared again: as long as it took, and this at most. */
const MOST_REST_MS = 60_000;
const SAVE_EVERY_MS = 1000;

/**
 * Verifies all indexes after a log was cut. Entries of lost cells may remain, and the group lost its own last entries,
 * which are of rows of every group: so each index is compared whole.
 *
 * The finder of a cut raises its shard's epoch in the topology first, and verified epochs are kept, so none is
 * forgotten.
 * Progress is kept too: a comparison may outlast a run.
 *
 * @returns a poll, to be repeated
 */
export function verifyCutShards(work: RepairWork, signal: AbortSignal): () => Promise<void> {
  const { context, datastore, settings } = work;
  const seen = new Map<string, number>();
  /** Epochs up to which shards are verified. */
  const done = new Map<number, number>();
  let restUntil = 0;

  return async () => {
    if (performance.now() < restUntil) return;
    const { homes } = await requireDatastore(context.topology, datastore);
    if (homes.every(({ epoch }, shard) => epoch <= (done.get(shard) ?? 1))) return;
    const topology = await readDatastore(work.topologyTable, datastore);
    const raised = topology?.homes.flatMap(({ epoch }, shard) => (epoch > 1 ? [{ shard, epoch }] : [])) ?? [];
    if (raised.length === 0) return;
    const verified = await verifiedEpochs(
      work.stateTable,
      datastore,
      raised.map(({ shard }) => shard),
    );
    const due = raised.filter(({ shard, epoch }) => {
      done.set(shard, verified(shard));
      if (verified(shard) >= epoch) return false;
      const since = seen.get(`${shard}/${epoch}`) ?? performance.now();
      seen.set(`${shard}/${epoch}`, since);
      return performance.now() - since >= settings.afterCutMs;
    });
    if (due.length === 0) return;
    context.topology.refresh();
    // Entries take their epoch from the shard's row.
    for (const { shard, epoch } of due)
      await repairEpoch(
        { groups: context.groups, datastore, shard },
        { group: topology?.homes[shard]?.group ?? '', epoch },
      );
    const begun = performance.now();
    const failures = await verifyIndexes(work, due, signal);
    if (signal.aborted) return;
    if (failures.length > 0) {
      restUntil = performance.now() + Math.min(MOST_REST_MS, performance.now() - begun);
      throw failures[0];
    }
    for (const { shard, epoch } of due) {
      await noteVerified(work.stateTable, datastore, shard, epoch);
      seen.delete(`${shard}/${epoch}`);
    }
  };
}

interface DueShard {
  readonly shard: number;
  readonly epoch: number;
}

async function verifyIndexes(work: RepairWork, due: readonly DueShard[], signal: AbortSignal): Promise<unknown[]> {
  const { context, datastore, report } = work;
  const cuts = due.map(({ shard, epoch }) => `${shard}/${epoch}`);
  const keeper = await keepProgress(work, cuts);
  const failures: unknown[] = [];
  for (const index of await work.indexes.maintained(datastore)) {
    const { isDone, shards, places, again: before } = keeper.of(index);
    if (isDone) continue;
    const { found, repaired, failed, again } = await verifyIndex(context, datastore, index, {
      repair: true,
      ...(shards && { shards }),
      from: places,
      signal,
      passed: (group, location, since) => {
        const { places: known } = keeper.of(index);
        keeper.note(index, {
          places: { ...known, [group]: location },
          again: [...new Set([...before, ...since])],
        });
      },
    });
    if (signal.aborted) break;
    const left = [...new Set([...before, ...again])];
    keeper.note(index, left.length === 0 ? { isDone: true } : { shards: left, places: {}, again: [] });
    report({
      datastore,
      kind: 'verified',
      index: index.name,
      shards: due.length,
      problems: found.missing + found.extra + found.wrong,
      repaired,
    });
    failures.push(...failed.values());
    if (left.length > 0 && failed.size === 0)
      failures.push(new Error(`${left.length} shards could not be compared by the run before`));
  }
  await keeper.end();
  return failures;
}

/** Without the table the next run compares again. */
async function keepProgress({ stateTable, datastore }: RepairWork, cuts: readonly string[]) {
  const key = `verifying#${datastore}`;
  const read = async (): Promise<VerifyProgress | undefined> => {
    const stored = (await readState(stateTable, key))?.['progress']?.B;
    return stored && (decodeBody(stored) as unknown as VerifyProgress);
  };
  // Encoded as bodies are: JSON's numbers do not hold every integer.
  const write = () => setState(stateTable, key, { progress: { B: encodeBody(progress as unknown as Json) } });
  const kept = await read().catch(() => undefined);
  const isKept = kept !== undefined && cuts.every((cut) => kept.cuts.includes(cut));
  let progress: VerifyProgress = isKept ? kept : { cuts, indexes: {} };
  let savedAt = performance.now();
  let saving = Promise.resolve();
  const save = (): Promise<void> => {
    savedAt = performance.now();
    saving = saving.then(async () => void (await write())).catch(() => undefined);
    return saving;
  };
  const keyOf = ({ name, hash: version }: PhysicalIndex): string => `${name}/${version}`;
  const of = (index: PhysicalIndex): IndexProgress =>
    progress.indexes[keyOf(index)] ?? { isDone: false, places: {}, again: [] };
  return {
    of,
    note(index: PhysicalIndex, change: Partial<IndexProgress>): void {
      progress = { ...progress, indexes: { ...progress.indexes, [keyOf(index)]: { ...of(index), ...change } } };
      if (performance.now() - savedAt >= SAVE_EVERY_MS) void save();
    },
    end: save,
  };
}

interface IndexProgress {
  readonly isDone: boolean;
  /** @default all shards */
  readonly shards?: readonly number[];
  readonly places: Readonly<Record<string, VerifyLocation>>;
  readonly again: readonly number[];
}

interface VerifyProgress {
  /** The cuts it covers, as `17/2`: shard and epoch. Another cut begins it again. */
  readonly cuts: readonly string[];
  readonly indexes: Readonly<Record<string, IndexProgress>>;
}
