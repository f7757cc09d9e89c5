import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeDeployment, SHARDS } from '../../functions/support/fake-deployment.ts';
import { serveGateway } from '../../functions/support/gateway.ts';
import { steppingMoves, type SteppingMoves } from '../../shared/moves/stepping-moves.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { linesOf, runCommand, startCommand, type Ran } from './run-command.ts';

const folder = folderOfTests();
const HERE = { folder: folder.path };
const GROUPS = ['group-1', 'group-2'];
let moves: SteppingMoves;
let served: Awaited<ReturnType<typeof serveGateway>>;

/** All shards on one of two groups, as a new one finds them. */
beforeEach(async () => {
  moves = steppingMoves(new Map(Array.from({ length: SHARDS }, (_, shard) => [shard, 'group-1'])));
  const getBuffer = async () => ({
    groups: GROUPS.map((group) => ({ group, rows: 0, oldest_age: null, parked: 0, conflicts: 0, in_doubt: 0 })),
  });
  const heads = async () => [...moves.homes].map(([shard, group]) => ({ shard, group, head: 17 }));
  served = await serveGateway(fakeDeployment({ ...moves, getBuffer, heads }));
});
afterEach(() => served.close());

const run = (...parameters: string[]): Promise<Ran> =>
  runCommand([...parameters, '-d', 'trips', '--url', served.url], HERE);

describe('shards plan', () => {
  it('says which shards should be elsewhere, and changes nothing', async () => {
    const planned = await run('shards', 'plan');
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(planned).map(({ from, to }) => [from, to])).toEqual([
      ['group-1', 'group-2'],
      ['group-1', 'group-2'],
    ]);
    const retiring = await run('shards', 'plan', '--retire', 'group-1', '--format', 'table');
    expect(retiring.stdout).toMatch(/^SHARD {2}FROM {5}TO\s/u);
    expect(retiring.stdout.trim().split('\n')).toHaveLength(1 + SHARDS);
    expect(moves.asked).toEqual([]);
  });

  it('refuses a group that there is not', async () => {
    const { code, stderr } = await run('shards', 'plan', '--retire', 'group-9');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--retire: wanted one of group-1, group-2')]);
  });
});

describe('rebalance', () => {
  it('does nothing without a terminal or --yes', async () => {
    const alone = await run('rebalance');
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('add --yes')]);
    expect(moves.asked).toEqual([]);
  });

  it('moves shards until each group holds equally many, and has nothing to do then', async () => {
    const moved = await run('rebalance', '--yes', '--complete-after', '60');
    expect(moved.code).toBe(0);
    expect(linesOf(moved)).toEqual([{ moves: 2, moved: 2, not_moved: [], complete: true }]);
    expect([...moves.homes.values()].toSorted()).toEqual(['group-1', 'group-1', 'group-2', 'group-2']);
    expect([...moves.all.values()].map((one) => one.complete_after_seconds)).toEqual([60, 60]);
    const again = await run('rebalance');
    expect([again.code, linesOf(again)[0]?.['moves']]).toEqual([0, 0]);
    expect(again.stderr).toContain('nothing to move');
  });

  it('ends with Ctrl-C, and goes on where it was', async () => {
    const empty = ['rebalance', '--retire', 'group-1', '--yes'];
    const child = startCommand([...empty, '-d', 'trips', '--url', served.url], HERE);
    child.stdout?.resume();
    // The first shard has moved.
    let isTold = false;
    child.stderr?.on('data', (text: Buffer) => {
      if (isTold || !text.toString().includes('is on group-2')) return;
      isTold = child.kill('SIGINT');
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(130);
    expect((await run(...empty)).code).toBe(0);
    // Moves under way when the first run ended were not planned again, and end by themselves.
    for (let poll = 0; poll < 2 * SHARDS; poll += 1) await moves.listMoves();
    expect([...moves.homes.values()]).toEqual(Array.from({ length: SHARDS }, () => 'group-2'));
    expect(new Set(moves.asked).size).toBe(SHARDS);
  });
});
