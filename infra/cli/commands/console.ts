import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { command } from '../cli.ts';
import { serveConsole, type ServedConsole } from '../console/serve-console.ts';
import { CommandError } from '../errors.ts';
import { wholeNumberFlag } from '../flags.ts';
import { signerOf } from '../target/signer.ts';

interface ConsoleFlags {
  readonly profile?: string;
  readonly actions?: boolean;
  readonly open: boolean;
  readonly port: number;
}

const ASK_MS = 15_000;

export function consoleCommand(): Command {
  return command('console')
    .description('open the console of an API in a browser, and sign its requests')
    .addOption(new Option('--actions', 'also allow changes, within your rights in IAM (default: it only reads)'))
    .addOption(wholeNumberFlag('--port <port>', 'on this machine (default: any that is free)', 0, 65_535).default(0))
    .addOption(new Option('--no-open', 'only print the address'))
    .examples(
      ['schemaless console --profile prod', 'looks'],
      ['schemaless console --profile prod --actions', 'pauses triggers, retries cells, moves shards, too'],
      ['schemaless console --no-open', 'prints an address'],
    )
    .notes(`The page comes from the API (/console, if the environment has it), and sends requests through this command, which listens
only on 127.0.0.1 until Ctrl-C, and signs them with your credentials. The printed address opens it once, in one
browser; other pages and other users of this machine are refused. A second opening ends the command.`)
    .run<[], ConsoleFlags>(async ({ target, output, note }, _none, flags) => {
      const { url, datastore, sign, region, awsProfile, by } = await target();
      const signs = await signerOf({ url, datastore, sign, region, awsProfile, by });
      const { actions = false, profile, port } = flags;
      const served = await listening({ url, sign: signs, actions, profile, datastore, port });
      let file: Disposable | undefined;
      try {
        await checkThere(url, signs);
        await output.record({ address: served.address });
        note(
          `the console of ${url} (${by})${actions ? ', which may change it' : ', which only reads'}; Ctrl-C ends it`,
        );
        if (flags.open && process.stdout.isTTY) file = openBrowser(served.address);
        void served.opened.then(() => file?.[Symbol.dispose]());
        const ended = new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
        await Promise.race([ended, served.openedTwice.then(refuseSecond)]);
      } finally {
        file?.[Symbol.dispose]();
        served.close();
      }
      return 'ok';
    });
}

function refuseSecond(): never {
  throw new CommandError('The address was opened a second time, so the session was ended: another user may know it', {
    ending: 'denied',
    fix: 'Run the command again. With --actions, check the changes since the first opening',
  });
}

async function listening(props: Parameters<typeof serveConsole>[0]): Promise<ServedConsole> {
  try {
    return await serveConsole(props);
  } catch (cause) {
    throw new CommandError(`port: wanted one that is free, got ${props.port}`, {
      ending: 'usage',
      fix: 'Leave out --port',
      cause,
    });
  }
}

/** Reports a refusal on the terminal, instead of by a page that does not load. */
async function checkThere(base: string, sign: Awaited<ReturnType<typeof signerOf>>): Promise<void> {
  const url = new URL(`${base.replace(/\/+$/u, '')}/console`);
  const headers = { accept: 'text/html' };
  const signed = sign ? await sign({ method: 'GET', url, headers, body: undefined }) : headers;
  const { status } = await fetch(url, { headers: signed, signal: AbortSignal.timeout(ASK_MS) }).catch(
    (cause: unknown) => {
      throw new CommandError(`${base} does not answer`, { ending: 'unavailable', fix: 'Repeat it', cause });
    },
  );
  if (status === 404)
    throw new CommandError(`${base} has no console`, {
      ending: 'notFound',
      fix: 'Set `console: true` in its environment, and deploy',
    });
  if (status === 403 || status === 401)
    throw new CommandError(`${base} refused the signature`, {
      ending: 'denied',
      fix: 'Attach one of the policies readers, movers, erasers and operators, which allow it',
    });
  if (status !== 200) throw new CommandError(`${base} answered ${status}`, { ending: 'unavailable', fix: 'Repeat it' });
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a browser through a private file, since all users can read arguments. Disposing deletes the file. */
export function openBrowser(address: string): Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'schemaless-console-'));
  const file = join(folder, 'open.html');
  writeFileSync(file, `<meta http-equiv="refresh" content="0;url=${address}">\n`, { mode: 0o600 });
  const [program, ...parameters] = OPENERS[process.platform] ?? ['xdg-open'];
  spawn(program, [...parameters, file], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
  return { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
