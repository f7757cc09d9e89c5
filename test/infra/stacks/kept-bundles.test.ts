import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleFunctions, BUNDLED_FILES } from '../../../infra/stacks/bundles.ts';
import { keepBundles } from '../../../infra/stacks/kept-bundles.ts';
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
  const read = (name: string): string => readFileSync(join(to, name, 'index.mjs'), 'utf8');
  return {
    one: read('one'),
    other: read('other'),
    bill: read('bill'),
    files: JSON.parse(readFileSync(join(to, BUNDLED_FILES), 'utf8')) as readonly string[],
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

  it('are not kept where nobody says so, or a file was changed while they were made', async () => {
    await bundled({}, false);
    expect(() => keptFiles()).toThrow('ENOENT');
    await sleep(100);
    const made = { texts: {}, files: [join(folder.path, ONE)] };
    const startedAt = Date.now();
    write(ONE, 'export const handler = 1;');
    keepBundles(kept(), 'an order', made, startedAt);
    expect(() => keptFiles()).toThrow('ENOENT');
  });

  it('are no more than a dozen: those that were used last', async () => {
    await sleep(100);
    for (let order = 0; order < 20; order += 1) {
      keepBundles(kept(), order, { texts: { order: String(order) }, files: [join(folder.path, ONE)] }, Date.now());
      await sleep(5);
    }
    const orders = keptFiles().map((path) => Number(JSON.parse(readFileSync(path, 'utf8')).texts.order));
    expect(orders.sort((one, other) => one - other)).toEqual([8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  });
});
