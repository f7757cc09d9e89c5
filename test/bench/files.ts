import { join } from 'node:path';
import { loadavg } from 'node:os';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { CommandProcess, type CommandEnd } from '../support/files/command-process.ts';
import { exportKilled, importKilled } from '../support/files/kill-and-resume.ts';
import { writeReadings } from '../support/files/readings.ts';
import type { Bench, Findings, Measured } from './bench.ts';
import { startStack } from './http/start-stack.ts';
import { rowsOn } from './rows.ts';

const CELLS = 200_000;
const ROWS = 20_000;
const SHARDS = 64;
const KILLS = 5;
/** The target rate on a machine of two cores, in cells a second, each with a copy in another group. */
const RATE = 5000;
const MEMORY_MB = 200;

export const filesBench: Bench = {
  name: 'files',
  what: `import of ${CELLS.toLocaleString('en-US')} cells into ${SHARDS} shards, killed ${KILLS} times, export of them, killed too, and import of the export`,
  isolated: true,
  limitMinutes: 40,

  async measure(world): Promise<Findings> {
    const { folder, seed, say } = world;
    const file = join(folder, 'readings.ndjson');
    const exported = join(folder, 'exported');
    await writeReadings(file, { cells: CELLS, rows: ROWS, seed });
    const datastores = join(PROJECT_ROOT, 'test/support/files/datastores');
    await using running = await startStack(world, ['--datastores', datastores, '--shards', String(SHARDS)]);
    const { url } = running.stack;
    say(`${running.engine}; load ${load()}`);

    const imported = await underLoad(
      importKilled({ url, datastore: 'readings' }, { path: file, cells: CELLS, kills: KILLS }),
    );
    say(`imported in ${imported.seconds.toFixed(1)} s, killed ${imported.kills} times; load ${imported.load}`);
    const left = await underLoad(exportKilled({ url, datastore: 'readings' }, { folder: exported, kills: KILLS }));
    say(`exported in ${left.seconds.toFixed(1)} s, killed ${left.kills} times; load ${left.load}`);
    const checked = await new CommandProcess(url, 'readings', ['export', exported, '--check']).ended;
    const again = await underLoad(new CommandProcess(url, 'copies', ['import', exported]).ended);
    say(`imported again in ${again.seconds.toFixed(1)} s; load ${again.load}`);

    const row = rowsOn(running.engine);
    const failed = [imported.last, left.last, checked, again].flatMap(endOf);
    const rate = (what: string, { seconds, load }: Loaded, least?: number): Measured => {
      const cells = CELLS / seconds;
      const result = `${cells.toFixed(0)} (load ${load})`;
      return least === undefined ? row(what, result) : row(what, result, `at least ${least}`, cells >= least);
    };
    const memory = (what: string, bytes: number): Measured => {
      const megabytes = bytes / 1024 / 1024;
      return row(what, `${megabytes.toFixed(0)} MB`, `under ${MEMORY_MB} MB`, megabytes < MEMORY_MB);
    };
    return {
      measured: [
        row(
          'kills of the import, of the export',
          `${imported.kills}, ${left.kills}`,
          `${KILLS}, some`,
          imported.kills === KILLS && left.kills > 0,
        ),
        row('runs that failed', failed.join('; ') || 'none', 'none', failed.length === 0),
        rate('cells a second: import, killed and resumed, all starts included', imported, RATE),
        rate('cells a second: import of the export, not killed', again),
        rate('cells a second: export, killed and resumed, all starts included', left),
        memory('most memory of an import', Math.max(imported.peakBytes, again.peakBytes)),
        memory('most memory of an export', left.peakBytes),
      ],
    };
  },
};

function endOf({ code, stderr }: CommandEnd): readonly string[] {
  return code === 0 ? [] : [`ended with ${code ?? 'a signal'}: ${stderr.slice(-200)}`];
}

interface Loaded {
  readonly seconds: number;
  readonly load: string;
}

async function underLoad<Run extends { readonly seconds: number }>(run: Promise<Run>): Promise<Run & Loaded> {
  const ended = await run;
  return { ...ended, load: load() };
}

/** Returns the machine's load in the last minute: its other work is part of every rate. */
function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
