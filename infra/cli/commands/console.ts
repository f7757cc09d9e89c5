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
    .description('opens the console of an API in a browser, and signs its requests')
    .addOption(new Option('--actions', 'it may change something, too: what IAM lets you (default: it only reads)'))
    .addOption(wholeNumberFlag('--port <port>', 'on this machine (default: any that is free)', 0, 65_535).default(0))
    .addOption(new Option('--no-open', 'only print the address'))
    .examples(
      ['schemaless console --profile prod', 'looks'],
      ['schemaless console --profile prod --actions', 'pauses triggers, retries cells, moves shards, too'],
      ['schemaless console --no-open', 'prints an address'],
    )
    .notes(`The page comes from the API (/console, where the environment has it), and asks it through this command, which listens on
127.0.0.1 alone until Ctrl-C and signs what the page sends with your credentials. The address that is printed opens it
once, for one browser; other pages, and other users of this machine, are refused. A second opening ends the command.`)
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
    cure: 'Run the command again. With --actions, look at what was changed meanwhile',
  });
}

async function listening(props: Parameters<typeof serveConsole>[0]): Promise<ServedConsole> {
  try {
    return await serveConsole(props);
  } catch (cause) {
    throw new CommandError(`port: wanted one that is free, got ${props.port}`, {
      ending: 'usage',
      cure: 'Leave out --port',
      cause,
    });
  }
}

/** Whoever is not let in is told here, and not by a page that does not come. */
async function checkThere(base: string, sign: Awaited<ReturnType<typeof signerOf>>): Promise<void> {
  const url = new URL(`${base.replace(/\/+$/u, '')}/console`);
  const headers = { accept: 'text/html' };
  const signed = sign ? await sign({ method: 'GET', url, headers, body: undefined }) : headers;
  const { status } = await fetch(url, { headers: signed, signal: AbortSignal.timeout(ASK_MS) }).catch(
    (cause: unknown) => {
      throw new CommandError(`${base} does not answer`, { ending: 'unavailable', cure: 'Repeat it', cause });
    },
  );
  if (status === 404)
    throw new CommandError(`${base} has no console`, {
      ending: 'notFound',
      cure: 'Set `console: true` in its environment, and deploy it',
    });
  if (status === 403 || status === 401)
    throw new CommandError(`${base} refused the signature`, {
      ending: 'denied',
      cure: 'The policies readers, movers, erasers and operators let their callers open it',
    });
  if (status !== 200)
    throw new CommandError(`${base} answered ${status}`, { ending: 'unavailable', cure: 'Repeat it' });
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a browser by a private file, since all users can read arguments. Disposing deletes the file. */
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
