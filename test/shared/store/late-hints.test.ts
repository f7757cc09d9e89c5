import { describe, expect, it } from 'vitest';
import type { BufferedCell } from '../../../shared/sql/encoded-cell.ts';
import { Quarantine } from '../../../shared/sql/quarantine.ts';
import { bufferOnSecondaries, secondariesOf } from '../../../shared/store/hints.ts';
import { openContext, type StoreEvent } from '../../../shared/access/context.ts';
import { UNBOUNDED, type SqlClient } from '../../../shared/sql/client.ts';
import type { TopologySource } from '../../../shared/topology/topology.ts';
import { copyOf } from '../../support/copy-of.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { fakeTimeOfEach, passes } from '../../support/fake-time.ts';
import { withoutBreakers } from '../../support/without-breakers.ts';

const LATE_MS = 250;
const LAST_FOR_MS = 30_000;

fakeTimeOfEach();

/** Groups that hold a hint once they are told to. */
function holders(names: readonly string[]) {
  const late = new Quarantine();
  const asked: string[] = [];
  const answers = new Map<string, (isHeld: boolean) => void>();
  const withdrawn: string[] = [];
  let asides = 0;
  const context = {
    groups: { names: async () => names } as never,
    late,
    withdraw: (group: string) => void withdrawn.push(group),
    stepAside: () => void (asides += 1),
    buffer: (group: string) => {
      asked.push(group);
      return new Promise<boolean>((resolve) => answers.set(group, resolve));
    },
  };
  return {
    asked,
    withdrawn,
    asides: () => asides,
    put: (copies = 1, last: readonly string[] = []) => bufferOnSecondaries(context, [], copies, [], last),
    answer: (group: string | undefined, isHeld = true) => answers.get(group ?? '')?.(isHeld),
  };
}

describe('a hint that is late', () => {
  it('is put on another group in parallel, and the first to come counts', async () => {
    const { asked, asides, put, answer } = holders(['group-1', 'group-2']);
    const done = put();
    await passes(LATE_MS - 1);
    expect([asked.length, asides()]).toEqual([1, 0]);
    await passes(1);
    expect([asked.toSorted(), asides()]).toEqual([['group-1', 'group-2'], 1]);
    answer(asked[1]);
    expect(await done).toEqual([asked[1]]);
  });

  it('is withdrawn if it comes once its write has enough, because the write does not rely on it', async () => {
    const { asked, withdrawn, put, answer } = holders(['group-1', 'group-2']);
    const done = put();
    await passes(LATE_MS);
    answer(asked[1]);
    await done;
    expect(withdrawn).toEqual([]);
    answer(asked[0]);
    await passes(0);
    expect(withdrawn).toEqual([asked[0]]);
  });

  it('counts all the same if it comes first', async () => {
    const { asked, put, answer } = holders(['group-1', 'group-2']);
    const done = put();
    await passes(LATE_MS);
    answer(asked[1], false);
    await passes(0);
    answer(asked[0]);
    expect(await done).toEqual([asked[0]]);
  });

  it('leaves a write with as many hints as there are groups that answer', async () => {
    const { asked, put, answer } = holders(['group-1', 'group-2', 'group-3']);
    const done = put(2);
    await passes(LATE_MS);
    expect(asked).toHaveLength(3);
    answer(asked[2]);
    await passes(0);
    answer(asked[0]);
    expect(await done).toEqual([asked[2], asked[0]]);
  });

  it('makes its group the last choice for half a minute, or until its hint comes in time', async () => {
    const { asked, put, answer } = holders(['group-1', 'group-2']);
    const first = put();
    await passes(LATE_MS);
    const quick = asked.splice(0)[1];
    answer(quick);
    await first;
    const firstChoices = async (): Promise<readonly string[]> => {
      for (let round = 0; round < 40; round += 1) {
        const done = put();
        await passes(0);
        answer(asked.at(-1));
        await done;
      }
      return [...new Set(asked.splice(0))].toSorted();
    };
    expect(await firstChoices()).toEqual([quick]);
    await passes(LAST_FOR_MS);
    expect(await firstChoices()).toEqual(['group-1', 'group-2']);
  });

  it('is not sent any more once another group holds it', async () => {
    const { context, sent, reported } = stalling('group-2');
    const { buffer } = secondariesOf(context, 'trips');
    const cells = [copyOf(cellOf({}))];
    let isWanted = true;
    // One statement of a group is under way; the other hints wait for it.
    const waits: Promise<boolean>[] = [];
    for (let hint = 0; hint < 3; hint += 1) {
      waits.push(buffer('group-2', cells as readonly BufferedCell[], () => isWanted));
      await passes(1);
    }
    expect(sent.length).toBe(1);
    isWanted = false;
    for (const goOn of sent.splice(0)) goOn();
    await passes(1);
    expect(await Promise.all(waits)).toEqual([true, false, false]);
    expect(reported).toEqual([]);
    expect(sent.length).toBe(0);
  });
});

/** A store whose group sends nothing on before it is told to. */
function stalling(name: string) {
  const sent: (() => void)[] = [];
  const reported: StoreEvent[] = [];
  const client: SqlClient = {
    abilities: { readsFromReaders: false, survivesDiskLoss: true, bounds: UNBOUNDED },
    nodes: 1,
    select: async () => [],
    change: () => new Promise((resolve) => sent.push(() => resolve({ affectedRows: 1, insertId: 1 }))),
    transactions: { atOnce: 1, spare: 0, run: async () => [] },
    close: async () => undefined,
  };
  const topology = { groups: async () => [{ name }] } as unknown as TopologySource;
  return {
    sent,
    reported,
    context: openContext({
      topology,
      connect: () => client,
      bufferCopies: 1,
      guard: withoutBreakers,
      report: (event) => reported.push(event),
    }),
  };
}
