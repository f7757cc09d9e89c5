import { mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleFunctions, BUNDLED_FILES } from '../../../infra/stacks/bundles.ts';
import { keptBundles } from '../../../infra/stacks/kept-bundles.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder[Symbol.dispose]());

const SHARED = 'app/shared/greeting.ts';
const [ONE, OTHER, TRIGGER] = [
  'app/functions/one.ts',
  'app/functions/other.ts',
  'app/functions/bill-rider.ts',
] as const;

function write(file: string, text: string): string {
  const path = join(folder.path, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const kept = () => join(folder.path, 'kept');
const keptFiles = (): readonly string[] => readdirSync(kept()).map((name) => join(kept(), name));

/** A synthesis after the sources were written some time ago; each has a folder of its own. */
let syntheses = 0;
async function bundled(more: Partial<Parameters<typeof bundleFunctions>[0]> = {}, isKept = true) {
  await sleep(100);
  syntheses += 1;
  const to = join(folder.path, `out-${syntheses}`);
  bundleFunctions({
    functions: { one: join(folder.path, ONE), other: join(folder.path, OTHER) },
    triggers: { bill: { trigger: 'bill_rider', file: 'bill-rider.ts', path: join(folder.path, TRIGGER) } },
    access: 'mysql',
    proxy: false,
    folder: to,
    ...(isKept && { keptIn: kept() }),
    ...more,
  });
  const read = (name: string): string => readFileSync(join(more.folder ?? to, name, 'index.mjs'), 'utf8');
  return {
    one: read('one'),
    other: read('other'),
    bill: read('bill'),
    files: JSON.parse(readFileSync(join(more.folder ?? to, BUNDLED_FILES), 'utf8')) as readonly string[],
  };
}

/** Nobody else would write this: what has it was kept. */
const MARK = '/* it was kept */';
function markKept(): void {
  for (const path of keptFiles()) {
    const { texts, ...rest } = JSON.parse(readFileSync(path, 'utf8'));
    const marked = Object.entries(texts).map(([name, text]) => [name, `${MARK}${String(text)}`]);
    writeFileSync(path, JSON.stringify({ ...rest, texts: Object.fromEntries(marked) }));
  }
}

const wereKept = ({ one, other, bill }: Awaited<ReturnType<typeof bundled>>): readonly boolean[] =>
  [one, other, bill].map((text) => text.startsWith(MARK));

const saying = (word: string): string =>
  `const named = () => '${word}'; export class Greeter { greet = named; }; export const said = new Greeter().greet();`;

beforeEach(() => {
  write(SHARED, saying('hello'));
  write(ONE, "import { said } from '../shared/greeting.ts'; export const handler = () => said;");
  write(OTHER, "import { said } from '../shared/greeting.ts'; export const handler = () => `${said}!`;");
  write(TRIGGER, "export const bill = () => 'billed'; export const handler = bill;");
});

describe('bundles that are kept', () => {
  it('are those that the bundler would make, and are taken while nothing has changed', async () => {
    const first = await bundled();
    markKept();
    const next = await bundled();
    expect(wereKept(next)).toEqual([true, true, true]);
    expect([next.one, next.other, next.bill]).toEqual([first.one, first.other, first.bill].map((text) => MARK + text));
    expect(first.files).toEqual(
      expect.arrayContaining([SHARED, ONE, OTHER, TRIGGER].map((file) => join(folder.path, file))),
    );
    expect([...next.files].sort()).toEqual([...first.files].sort());
  });

  it('are made anew where what a function imports has changed, and the others are not', async () => {
    await bundled();
    markKept();
    write(SHARED, saying('good morning'));
    const next = await bundled();
    expect(wereKept(next)).toEqual([false, false, true]);
    expect(next.one).toContain('good morning');
  });

  it('are made anew where the function of a trigger has changed, and the others are not', async () => {
    await bundled();
    markKept();
    write(TRIGGER, "export const bill = () => 'billed twice'; export const handler = bill;");
    const next = await bundled();
    expect(wereKept(next)).toEqual([true, true, false]);
    expect(next.bill).toContain('billed twice');
  });

  it('are of one way to MySQL', async () => {
    await bundled();
    markKept();
    expect(wereKept(await bundled({ access: 'data-api' }))).toEqual([false, false, false]);
  });

  it('are made anew where one that is kept is damaged', async () => {
    const first = await bundled();
    for (const path of keptFiles()) writeFileSync(path, '{"texts":');
    expect(await bundled()).toMatchObject({ one: first.one, bill: first.bill });
  });

  it('are not kept where nobody says so, or a file was changed while they were made, or is not there', async () => {
    await bundled({}, false);
    expect(() => keptFiles()).toThrow('ENOENT');
    await sleep(100);
    const bundles = keptBundles(kept());
    const startedAt = Date.now();
    bundles.keep('of what is not there', { texts: {}, files: [join(folder.path, 'app/none.ts')] }, startedAt);
    write(ONE, 'export const handler = 1;');
    bundles.keep('of what was changed', { texts: {}, files: [join(folder.path, ONE)] }, startedAt);
    expect(keptFiles()).toEqual([]);
    await sleep(100);
    bundles.keep('of what is as it was', { texts: {}, files: [join(folder.path, ONE)] }, Date.now());
    expect(keptFiles()).toHaveLength(1);
  });

  it('go where they are too many: those that were used last stay', async () => {
    await sleep(100);
    const bundles = keptBundles(kept(), 12_000);
    const text = 'x'.repeat(1000);
    for (let order = 0; order < 20; order += 1) {
      bundles.keep(order, { texts: { text }, files: [join(folder.path, ONE)] }, Date.now());
      await sleep(5);
      if (order > 0) expect(bundles.find(0)).toBeDefined();
    }
    const found = Array.from({ length: 20 }, (_, order) => order).filter((order) => bundles.find(order) !== undefined);
    expect(found.length).toBeGreaterThan(5);
    expect(found.length, 'of more than a thousand bytes each').toBeLessThanOrEqual(11);
    expect(found).toEqual([0, ...Array.from({ length: found.length - 1 }, (_, at) => 21 - found.length + at)]);
  });
});

describe('bundles are made anew', () => {
  /** Whether each is still taken from what was kept before something changed. */
  async function after(change: () => void, more: Parameters<typeof bundled>[0] = {}): Promise<readonly boolean[]> {
    await bundled(more);
    markKept();
    expect(wereKept(await bundled(more))).toEqual([true, true, true]);
    change();
    return wereKept(await bundled(more));
  }

  it('where they were written below a link', async () => {
    mkdirSync(join(folder.path, 'disk'));
    symlinkSync('disk', join(folder.path, 'linked'));
    const change = (): void =>
      void write(TRIGGER, "export const bill = () => 'billed twice'; export const handler = bill;");
    expect(await after(change, { folder: join(folder.path, 'linked', 'out') })).toEqual([true, true, false]);
  });

  it('where a file was found by a pattern', async () => {
    write('app/languages/de.json', '{"word":"guten Tag"}');
    write('app/languages/fr.json', '{"word":"bonjour"}');
    write(TRIGGER, 'const bill = (name) => import(`../languages/${name}.json`); export const handler = bill;');
    const { files } = await bundled();
    expect(files).toContain(join(folder.path, 'app/languages/de.json'));
    const change = (): void => void write('app/languages/de.json', '{"word":"moin"}');
    expect((await after(change)).at(-1)).toBe(false);
  });

  it('where a module takes the place of a folder that is imported', async () => {
    write('app/package.json', '{"name":"app"}');
    write('app/lib/words/index.ts', saying('of the folder'));
    write(ONE, "import { said } from '../lib/words'; export const handler = () => said;");
    expect(await after(() => void write('app/lib/words.ts', saying('of the file')))).toEqual([false, false, true]);
  });

  it('where a link leads elsewhere', async () => {
    for (const version of ['v1', 'v2']) write(`app/versions/${version}/words.ts`, saying(version));
    const link = join(folder.path, 'app/versions/now');
    symlinkSync('v1', link);
    write('app/versions/which.ts', "export { said } from './now/words.ts';");
    write(ONE, "import { said } from '../versions/which.ts'; export const handler = () => said;");
    const change = (): void => {
      rmSync(link);
      symlinkSync('v2', link);
    };
    expect(await after(change)).toEqual([false, false, true]);
  });
});
