import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { ROOMS } from './rooms.ts';

/** An arrow from one room to another. */
interface Arrow {
  readonly from: string;
  readonly to: string;
  /** Import statements, types included. */
  readonly imports: number;
}

const SHARED = resolve(import.meta.dirname, '../../shared');
const FROM = /(?:^(?:import|export)\b[^;]*?\bfrom |\bimport\()'(\.[^']+)'/gmu;
/** The innermost first. */
const PATHS = ROOMS.map(({ path }) => path).toSorted(
  (one, other) => other.split('/').length - one.split('/').length || other.length - one.length,
);

function roomOf(file: string): string {
  const folder = dirname(file);
  const found = PATHS.find((path) => path !== '' && (folder === path || folder.startsWith(`${path}/`)));
  if (found === undefined && folder !== '.')
    throw new Error(`shared/${file}: wanted a room of infra/docs/rooms.ts, got ${folder}`);
  return found ?? '';
}

/** All arrows between rooms, as the files' import statements say. */
function arrows(): readonly Arrow[] {
  const counts = new Map<string, number>();
  for (const file of globSync('**/*.ts', { cwd: SHARED })) {
    const from = roomOf(file);
    for (const [, target = ''] of readFileSync(join(SHARED, file), 'utf8').matchAll(FROM)) {
      const to = roomOf(relative(SHARED, resolve(SHARED, dirname(file), target)));
      if (to !== from) counts.set(`${from} ${to}`, (counts.get(`${from} ${to}`) ?? 0) + 1);
    }
  }
  return [...counts].map(([arrow, imports]) => {
    const [from = '', to = ''] = arrow.split(' ');
    return { from, to, imports };
  });
}

/** Those that point from a room to one that stands behind it. */
function upwards(all: readonly Arrow[] = arrows()): readonly Arrow[] {
  const floor = (path: string): number => ROOMS.findIndex((room) => room.path === path);
  return all.filter(({ from, to }) => floor(to) > floor(from));
}

/**
 * The rooms as a Mermaid diagram, the highest on top. The files that lie in `shared/` itself are left out, since
 * everything imports them, and so is an arrow where a path of other arrows leads from the one room to the other.
 */
export function diagram(): string {
  const drawn = arrows().filter(({ from, to }) => from !== '' && to !== '');
  const targets = Map.groupBy(drawn, ({ from }) => from);
  const reaches = (from: string, to: string): boolean =>
    (targets.get(from) ?? []).some((arrow) => arrow.to === to || reaches(arrow.to, to));
  const direct = drawn.filter(
    ({ from, to }) => !(targets.get(from) ?? []).some((other) => other.to !== to && reaches(other.to, to)),
  );
  const name = (path: string): string => path.replaceAll('/', '_');
  const lines = [
    'flowchart TD',
    ...ROOMS.toReversed()
      .filter(({ path }) => path !== '')
      .map(({ path }) => `  ${name(path)}["${path}"]`),
    ...direct.map(({ from, to, imports }) => `  ${name(from)} -->|${imports}| ${name(to)}`).toSorted(),
  ];
  return `${lines.join('\n')}\n`;
}

if (import.meta.main) {
  const wrong = upwards();
  // Drawn from the order: with an arrow against it there is none.
  if (wrong.length === 0) process.stdout.write(diagram());
  for (const { from, to, imports } of wrong)
    process.stderr.write(`upwards: ${from === '' ? 'shared/*.ts' : from} imports ${to} (${imports} times)\n`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
