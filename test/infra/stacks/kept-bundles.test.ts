import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { bundleFunctions, BUNDLED_FILES } from '../../../infra/stacks/bundles.ts';
import { keptBundles } from '../../../infra/stacks/kept-bundles.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const [SHARED, ONE, OTHER, TRIGGER] = [
  'app/shared/greeting.ts',
  'app/functions/one.ts',
  'app/functions/other.ts',
  'app/functions/bill-rider.ts',
] as const;
const saying = (word: string): string =>
  `const named = () => '${word}'; export class Greeter { greet = named; }; export const said = new Greeter().greet();`;
const billing = (word: string): string => `export const bill = () => '${word}'; export const handler = bill;`;

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  // Sources that were written just before a synthesis are not certain; here each synthesis comes long after.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2100, 0) });
  write(SHARED, saying('hello'));
  write(ONE, "import { said } from '../shared/greeting.ts'; export const handler = () => said;");
  write(OTHER, "import { said } from '../shared/greeting.ts'; export const handler = () => `${said}!`;");
  write(TRIGGER, billing('billed'));
});
afterEach(() => {
  vi.useRealTimers();
  folder[Symbol.dispose]();
});

const at = (path: string): string => join(folder.path, path);
const keptFiles = (): readonly string[] => readdirSync(at('kept')).map((name) => at(`kept/${name}`));

function write(file: string, text: string): void {
  mkdirSync(dirname(at(file)), { recursive: true });
  writeFileSync(at(file), text);
}

type More = Partial<Parameters<typeof bundleFunctions>[0]>;

function bundled(more: More = {}, isKept = true) {
  const to = more.folder ?? at('out');
  bundleFunctions({
    functions: { one: at(ONE), other: at(OTHER) },
    access: 'mysql',
    proxy: false,
    folder: to,
    ...(isKept && { keptIn: at('kept') }),
    ...more,
  });
  const names = ['one', 'other', ...Object.keys(more.triggers ?? {})];
  const texts = names.map((name) => readFileSync(join(to, name, 'index.mjs'), 'utf8'));
  const files: readonly string[] = JSON.parse(readFileSync(join(to, BUNDLED_FILES), 'utf8'));
  return { texts, files };
}

/** Takes the bundler longest: the functions of triggers are bundled only where they count. */
const withTrigger = (): Required<Pick<More, 'triggers'>> => ({
  triggers: { bill: { trigger: 'bill_rider', file: 'bill-rider.ts', path: at(TRIGGER) } },
});

/** The bundler never writes this: a bundle that has it was kept. */
const MARK = '/* it was kept */';
function markKept(): void {
  for (const path of keptFiles()) {
    const { texts, ...rest } = JSON.parse(readFileSync(path, 'utf8'));
    const marked = Object.entries(texts).map(([name, text]) => [name, `${MARK}${String(text)}`]);
    writeFileSync(path, JSON.stringify({ ...rest, texts: Object.fromEntries(marked) }));
  }
}

it('kept bundles are those that the bundler would make, and are taken until something changes', () => {
  const first = bundled(withTrigger());
  markKept();
  const next = bundled(withTrigger());
  expect(next.texts).toEqual(first.texts.map((text) => MARK + text));
  expect(first.files).toEqual(expect.arrayContaining([SHARED, ONE, OTHER, TRIGGER].map(at)));
  expect([...next.files].sort()).toEqual([...first.files].sort());
});

/** Changes between two syntheses, and which of the bundles `one`, `other` and perhaps `bill` are then kept. */
const CHANGES: readonly (readonly [string, (prepare: boolean) => More | void, readonly boolean[]])[] = [
  [
    'a module that functions import',
    (prepare) => {
      if (!prepare) write(SHARED, saying('good morning'));
      return withTrigger();
    },
    [false, false, true],
  ],
  [
    'the function of a trigger',
    (prepare) => {
      if (!prepare) write(TRIGGER, billing('billed twice'));
      return withTrigger();
    },
    [true, true, false],
  ],
  ['the way to MySQL', (prepare) => ({ access: prepare ? 'mysql' : 'data-api' }), [false, false]],
  [
    'the function of a trigger, below a link',
    (prepare) => {
      if (prepare) {
        mkdirSync(at('disk'));
        symlinkSync('disk', at('linked'));
      } else write(TRIGGER, billing('billed twice'));
      return { ...withTrigger(), folder: at('linked/out') };
    },
    [true, true, false],
  ],
  [
    'a file that is found by a pattern',
    (prepare) => {
      write('app/languages/de.json', `{"word":"${prepare ? 'guten Tag' : 'moin'}"}`);
      if (!prepare) return;
      write('app/languages/fr.json', '{"word":"bonjour"}');
      write(ONE, 'const said = (name) => import(`../languages/${name}.json`); export const handler = said;');
    },
    [false, false],
  ],
  [
    'a module that takes the place of an imported folder',
    (prepare) => {
      if (!prepare) return write('app/lib/words.ts', saying('of the file'));
      write('app/package.json', '{"name":"app"}');
      write('app/lib/words/index.ts', saying('of the folder'));
      write(ONE, "import { said } from '../lib/words'; export const handler = () => said;");
    },
    [false, false],
  ],
  [
    'the target of a link',
    (prepare) => {
      const link = at('app/versions/now');
      rmSync(link, { force: true });
      for (const version of ['v1', 'v2']) write(`app/versions/${version}/words.ts`, saying(version));
      symlinkSync(prepare ? 'v1' : 'v2', link);
      write('app/versions/which.ts', "export { said } from './now/words.ts';");
      write(ONE, "import { said } from '../versions/which.ts'; export const handler = () => said;");
    },
    [false, false],
  ],
];

it.each(CHANGES)('bundles are rebuilt after a change of %s', (_what, change, kept) => {
  const wereKept = ({ texts }: ReturnType<typeof bundled>) => texts.map((text) => text.startsWith(MARK));
  const before = change(true) ?? {};
  bundled(before);
  markKept();
  expect(wereKept(bundled(before)), 'control: before the change').not.toContain(false);
  expect(wereKept(bundled(change(false) ?? {}))).toEqual(kept);
});

it('a damaged bundle is rebuilt', () => {
  const { texts } = bundled();
  for (const path of keptFiles()) writeFileSync(path, '{"texts":');
  expect(bundled().texts).toEqual(texts);
});

it('nothing is kept without a folder, for a file that is missing, or for one that changed meanwhile', () => {
  bundled({}, false);
  expect(keptFiles).toThrow('ENOENT');
  const bundles = keptBundles(at('kept'));
  const changedAt = statSync(at(ONE)).ctimeMs;
  bundles.keep('missing', { texts: {}, files: [at('app/none.ts')] }, changedAt + 1000);
  bundles.keep('changed', { texts: {}, files: [at(ONE)] }, changedAt);
  expect(keptFiles()).toEqual([]);
  bundles.keep('unchanged', { texts: {}, files: [at(ONE)] }, changedAt + 1000);
  expect(keptFiles()).toHaveLength(1);
});

it('the bundles that were used last stay, up to a size', () => {
  const bundles = keptBundles(at('kept'), 12_000);
  const startedAt = statSync(at(ONE)).ctimeMs + 1000;
  const texts = { text: 'x'.repeat(1000) };
  for (let order = 0; order < 20; order += 1) {
    bundles.keep(order, { texts, files: [at(ONE)] }, startedAt);
    // A use before every file is written, so that the one just written is the newest.
    vi.setSystemTime(Date.UTC(2000, 0) + order * 60_000);
    for (const used of [order, 0]) expect(bundles.find(used)).toBeDefined();
  }
  const found = Array.from({ length: 20 }, (_, order) => order).filter((order) => bundles.find(order) !== undefined);
  expect(found.length).toBeGreaterThan(5);
  expect(found.length, 'more than a thousand bytes each').toBeLessThanOrEqual(11);
  expect(found).toEqual([0, ...Array.from({ length: found.length - 1 }, (_, place) => 21 - found.length + place)]);
});
