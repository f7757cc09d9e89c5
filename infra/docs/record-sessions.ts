/** `npm run sessions`: types the commands of `sessions.ts` on a terminal, and writes what came into their page. */
import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify, stripVTControlCharacters } from 'node:util';
import { PROJECT_ROOT } from '../app-context.ts';
import { exitCodeTable } from '../cli/errors.ts';
import { startLocalStack } from '../local/stack/local-stack.ts';
import { SESSIONS, type RecordedSession } from './sessions.ts';

const PAGE = join(PROJECT_ROOT, 'infra/docs/cli.md');
const COLUMNS = 150;
/** Followers begin at the ends of the logs once they run: what is typed too soon for them is typed again. */
const AGAIN_MS = 2000;

const folder = mkdtempSync(join(tmpdir(), 'schemaless-sessions-'));
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const stack = await startLocalStack({
  port: 0,
  data: join(folder, '.local'),
  groups: 3,
  readers: 1,
  shards: 16,
  log: say,
});
try {
  const program = join(folder, 'schemaless');
  writeFileSync(
    program,
    `#!/bin/sh\nexec '${process.execPath}' '${join(PROJECT_ROOT, 'infra/cli/command.ts')}' "$@"\n`,
  );
  chmodSync(program, 0o755);
  const recorded: (readonly [name: string, text: string])[] = [];
  for (const session of SESSIONS) {
    recorded.push([session.name, await record(session)]);
    say(`recorded ${session.name}`);
  }
  const page = between(readFileSync(PAGE, 'utf8'), 'exit codes', exitCodeTable());
  writeFileSync(
    PAGE,
    recorded.reduce((text, [name, session]) => between(text, `session: ${name}`, session, 'session'), page),
  );
} finally {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function record({ lines }: RecordedSession): Promise<string> {
  const shown: string[] = [];
  for (const one of lines) {
    const { line, meanwhile } = typeof one === 'string' ? { line: one, meanwhile: undefined } : one;
    const also = meanwhile === undefined ? [] : [`# in another terminal: ${meanwhile}`];
    shown.push(...also, `$ ${line}`, await typed(line, meanwhile));
  }
  return `\`\`\`console\n${shown.filter((part) => part !== '').join('\n')}\n\`\`\``;
}

/** Returns the output that a terminal shows. */
async function typed(line: string, meanwhile: string | undefined): Promise<string> {
  const ended = new AbortController();
  try {
    const [output] = await Promise.all([
      onTerminal(line, ended.signal).finally(() => ended.abort()),
      meanwhile === undefined ? undefined : again(meanwhile, ended.signal),
    ]);
    return output;
  } finally {
    // Ends an endless command after the other one failed.
    ended.abort();
  }
}

async function again(line: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await promisify(execFile)('bash', ['-c', line], { cwd: folder, env: environment() });
    await wait(AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function onTerminal(line: string, signal: AbortSignal): Promise<string> {
  const child = spawn('script', ['--quiet', '--command', `stty cols ${COLUMNS}; ${line}`, '/dev/null'], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
  });
  // Aborted: its output ends, too.
  child.on('error', () => undefined);
  // Not every program knows NO_COLOR.
  return stripVTControlCharacters(await text(child.stdout))
    .replaceAll('\r', '')
    .trimEnd();
}

function environment(): NodeJS.ProcessEnv {
  const { PATH = '', HOME } = process.env;
  return {
    HOME,
    PATH: `${folder}${delimiter}${PATH}`,
    SHELL: '/bin/bash',
    TERM: 'xterm',
    NO_COLOR: '1',
    XDG_CONFIG_HOME: join(folder, 'config'),
  };
}

/** Returns the page with other text between two marks. Throws if it lacks them. */
function between(page: string, mark: string, content: string, end = mark): string {
  const [first, last] = [`<!-- ${mark} -->`, `<!-- /${end} -->`];
  const from = page.indexOf(first);
  const to = page.indexOf(last, from);
  if (from < 0 || to < 0) throw new Error(`${PAGE}: wanted ${first} and ${last}`);
  return `${page.slice(0, from + first.length)}\n${content}\n${page.slice(to)}`;
}
