import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { startFlags } from '../../infra/local/commands/flags.ts';

const MANUALS = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...globSync('infra/docs/**/*.md', { cwd: PROJECT_ROOT }),
].map((file) => ({ file, text: readFileSync(join(PROJECT_ROOT, file), 'utf8') }));
const ALL = MANUALS.map(({ text }) => text).join('\n');
const textOf = (page: string): string => MANUALS.find(({ file }) => file === `infra/docs/${page}`)?.text ?? '';
const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'),
);

/** Returns the commands of a page: the lines of its `sh` blocks, without comments, and all code in backticks. */
function commandsOf(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gmsu)].flatMap(([, block = '']) => block.split('\n'));
  const inline = [...text.replaceAll(/^```.*?^```/gmsu, '').matchAll(/`([^`]+)`/gu)].map(([, code = '']) =>
    code.replaceAll('\n', ' '),
  );
  return [...blocks, ...inline].map((line) => line.replace(/\s+#.*$/u, ''));
}

/** `npm run consume -- FILE --data .local` as its script and the flags behind it. */
function npmCommand(command: string): { readonly script: string; readonly flags: readonly string[] } | undefined {
  const [, run, other, rest = ''] =
    /^(?:[A-Z_]+=\S+ )*npm (?:run (?:--silent )?([\w-]+)|(start|test))( .*)?$/u.exec(command) ?? [];
  const script = run ?? other;
  return script === undefined ? undefined : { script, flags: rest.match(/(?<= )--[a-z][\w-]*/gu) ?? [] };
}

describe.each(MANUALS)('the commands of $file', ({ text }) => {
  const commands = commandsOf(text);

  it('start no .ts file with whatever Node the machine has, which may be one that cannot read it', () => {
    expect(commands.filter((command) => /(?:^|[ ;&|])(?:node|nodejs)\s(?:\S+\s)*\S+\.m?ts\b/u.test(command))).toEqual(
      [],
    );
  });

  it('name scripts that there are', () => {
    const named = commands.flatMap((command) => npmCommand(command)?.script ?? []);
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
  });
});

const helps = new Map<string, Promise<string>>();

/**
 * Returns the help of a script, by the Node that runs npm, not by that of the tests, which npm would find. Ignores
 * pre-scripts: they reinstall dependencies that npm did not install, while tests use them.
 */
function helpOf(script: string): Promise<string> {
  const path = (process.env['PATH'] ?? '')
    .split(':')
    .filter((folder) => !folder.includes('node_modules'))
    .join(':');
  const env = { ...process.env, PATH: path };
  const command = ['run', '--silent', '--ignore-scripts', script, '--', '--help'];
  const ask = async (): Promise<string> =>
    (await promisify(execFile)('npm', command, { cwd: PROJECT_ROOT, env })).stdout;
  const help = helps.get(script) ?? ask();
  helps.set(script, help);
  return help;
}

const COMMANDS = MANUALS.flatMap(({ text }) => commandsOf(text)).flatMap((command) => npmCommand(command) ?? []);

describe('a command of the documents', () => {
  // Those of others than vitest, cdk and tsc, which have flags of their own.
  it.concurrent.each(['start', 'demo', 'smoke', 'consume', 'run-consumer', 'verify-index'])(
    'npm run %s runs, and knows every flag that is shown',
    async (script) => {
      const help = await helpOf(script);
      const shown = new Set(COMMANDS.filter((command) => command.script === script).flatMap(({ flags }) => flags));
      for (const flag of shown) expect(help).toMatch(new RegExp(`^ +(?:-\\w, )?${flag}\\b`, 'mu'));
    },
  );

  it.each(['consume', 'run-consumer'])('is told with every flag of npm run %s', async (script) => {
    const flags = [...(await helpOf(script)).matchAll(/^ +(--[a-z-]+)/gmu)]
      .map(([, flag = '']) => flag)
      .filter((flag) => flag !== '--help');
    const [section = ''] = new RegExp(`^[^\\n]*\`npm run ${script}.*?\\n\\n`, 'msu').exec(textOf('triggers.md')) ?? [];
    expect(flags.filter((flag) => !section.includes(flag))).toEqual([]);
  });

  it('npm start has the flags of its table, and no others', () => {
    const [, table = ''] = /^\| flag of `npm start --` .*?\n\|[-|]+\n(.*?)\n\n/msu.exec(textOf('local.md')) ?? [];
    const told = table
      .split('\n')
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/--[a-z-]+/gu)].map(([flag]) => flag));
    expect(told.sort()).toEqual(
      startFlags()
        .map(({ long }) => long ?? '')
        .sort(),
    );
  });
});

it('the definitions that the documents show of files that are there are theirs', () => {
  const shown = [...ALL.matchAll(/^```yaml\n# (\S+\.yaml)\n(.*?)^```/gmsu)].map(([, path = '', text = '']) => ({
    path,
    text,
  }));
  const known = shown.filter(({ path }) => existsSync(join(PROJECT_ROOT, path)));
  expect(known.map(({ path }) => path).sort()).toEqual([
    'infra/datastores/trips/indexes/driver_partner_index.yaml',
    'infra/datastores/trips/triggers/bill_rider.yaml',
  ]);
  for (const { path, text } of known)
    expect(parse(text)).toEqual(parse(readFileSync(join(PROJECT_ROOT, path), 'utf8')));
});

it('git leaves alone what the documents have one make', async () => {
  const folders = [...ALL.matchAll(/--data (\.\S+)/gu)].map(([, folder = '']) => folder);
  expect(folders).toContain('.local-feeds');
  const variables = [...ALL.matchAll(/WAREHOUSE_FOLDER=(\S+)/gu)].map(([, folder = '']) => folder);
  for (const folder of new Set(['.local', ...folders, ...variables])) {
    const { stdout } = await promisify(execFile)('git', ['check-ignore', '--no-index', `${folder}/x`], {
      cwd: PROJECT_ROOT,
    }).catch(({ stdout }: { stdout: string }) => ({ stdout }));
    expect(stdout).toBe(`${folder}/x\n`);
  }
});
