import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { INFRA_ROOMS, ROOMS, type Room } from './rooms.ts';

/** An arrow from one room to another. */
interface Arrow {
  readonly from: string;
  readonly to: string;
}

/** A file and what it imports, as paths from the root of the project. */
type Imports = ReadonlyMap<string, readonly string[]>;

const ROOT = resolve(import.meta.dirname, '../..');
/** Types and `import()` included. */
const FROM = /(?:^(?:import|export)\b[^;]*?\bfrom |\bimport\()'(\.[^']+)'/gmu;

/** Returns the imports of all files of `shared/`, `functions/` and `infra/`. */
function allImports(): Imports {
  const files = globSync('{shared,functions,infra}/**/*.ts', {
    cwd: ROOT,
    exclude: ['**/node_modules/**', '**/dist/**'],
  });
  return new Map(
    files.map((file) => {
      const targets = readFileSync(join(ROOT, file), 'utf8').matchAll(FROM);
      return [file, [...targets].map(([, target = '']) => join(dirname(file), target))];
    }),
  );
}

/** Returns the arrows between the rooms of a folder: `shared` or `infra`. */
export function arrows(root: string, rooms: readonly Room[], imports: Imports = allImports()): readonly Arrow[] {
  const found = new Map<string, Arrow>();
  for (const [file, targets] of imports) {
    if (!file.startsWith(`${root}/`)) continue;
    const from = roomOf(relative(root, file), rooms);
    for (const target of targets.filter((path) => path.startsWith(`${root}/`))) {
      const to = roomOf(relative(root, target), rooms);
      if (to !== from) found.set(`${from} ${to}`, { from, to });
    }
  }
  return [...found.values()];
}

/** Returns the innermost room that a file is in. */
function roomOf(file: string, rooms: readonly Room[]): string {
  const holds = rooms.filter(({ path }) => file === path || (path !== '' && file.startsWith(`${path}/`)));
  const innermost = holds.toSorted((one, other) => other.path.length - one.path.length)[0];
  if (innermost) return innermost.path;
  if (file.includes('/')) throw new Error(`${file}: infra/docs/rooms.ts must list its folder`);
  return '';
}

/** Returns the arrows that point from a room to one that stands behind it. */
export function upwards(all: readonly Arrow[], rooms: readonly Room[]): readonly Arrow[] {
  const floor = (path: string): number => rooms.findIndex((room) => room.path === path);
  return all.filter(({ from, to }) => floor(to) > floor(from));
}

/** Returns a circle of files that import each other, if there is one; its last file imports its first. */
export function circle(imports: Imports = allImports()): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return path.slice(path.indexOf(file));
    if (done.has(file)) return undefined;
    for (const target of imports.get(file) ?? []) {
      const found = visit(target, [...path, file]);
      if (found) return found;
    }
    done.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const found = visit(file, []);
    if (found) return found;
  }
  return undefined;
}

/**
 * Returns the rooms of `shared/` as a Mermaid diagram, the highest on top. It omits the files in `shared/` itself,
 * since everything imports them, and each arrow that a path of other arrows implies.
 */
export function diagram(): string {
  const drawn = arrows('shared', ROOMS).filter(({ from, to }) => from !== '' && to !== '');
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
    ...direct.map(({ from, to }) => `  ${name(from)} --> ${name(to)}`).toSorted(),
  ];
  return `${lines.join('\n')}\n`;
}

if (import.meta.main) {
  const imports = allImports();
  const wrong = [
    ...upwards(arrows('shared', ROOMS, imports), ROOMS).map(({ from, to }) => `shared/${from} imports shared/${to}`),
    ...upwards(arrows('infra', INFRA_ROOMS, imports), INFRA_ROOMS).map(
      ({ from, to }) => `infra/${from} imports infra/${to}`,
    ),
  ];
  for (const line of wrong) process.stderr.write(`against the order of infra/docs/rooms.ts: ${line}\n`);
  const round = circle(imports);
  if (round) process.stderr.write(`files that import each other: ${round.join(' -> ')}\n`);
  // With an arrow upwards the diagram's search for paths might not end.
  if (wrong.length === 0) process.stdout.write(diagram());
  process.exitCode = wrong.length > 0 || round ? 1 : 0;
}
