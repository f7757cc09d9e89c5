/** `npm start`: a whole deployment on this machine, until Ctrl-C. */
import { Command } from 'commander';
import { VERSION } from '../../../shared/version.ts';
import { awsLogin } from '../login/aws-login.ts';
import { startFlags, checkSmall, SMALL_GROUPS, SMALL_SHARDS } from './flags.ts';
import { localSigner } from '../login/clients.ts';
import { startLocalStack } from '../stack/local-stack.ts';
import type { LocalStack } from '../running/running-stack.ts';
import type { LocalStackOptions } from '../stack/local-stack-options.ts';
import { loadTriggers } from '../stack/load-triggers.ts';
import { prove } from '../stack/proof.ts';
import { watchSources, type WatchedSources } from '../stack/watch-sources.ts';
import { messageOf } from '../message-of.ts';

/** Options that have no flag, or another name there. */
type Unnamed = 'groupsAtFirst' | 'shardsAtFirst' | 'app' | 'projectFolder' | 'functionsFolder' | 'log';
type Renamed = 'restartAfterSeconds' | 'functionIdleSeconds' | 'functionArguments' | 'serverArguments';

interface Flags extends Omit<LocalStackOptions, Unnamed | Renamed> {
  readonly restartAfter: number;
  readonly functionIdle: number;
  readonly watch: boolean;
  readonly small?: boolean;
}

const command = new Command('npm start --')
  .description('Runs a whole Schemaless on this machine: MySQL servers, functions and HTTP API.')
  .showHelpAfterError();
for (const flag of startFlags()) command.addOption(flag);
command.parse();
try {
  checkSmall(command.opts<Flags>());
} catch (error) {
  command.error(`error: ${messageOf(error)}`);
}
const { functionIdle, restartAfter, watch, small, ...flags } = command.opts<Flags>();
const options: Partial<LocalStackOptions> = {
  ...flags,
  ...(small === true && { groupsAtFirst: SMALL_GROUPS, shardsAtFirst: SMALL_SHARDS }),
  functionIdleSeconds: functionIdle,
  restartAfterSeconds: restartAfter,
  log: (line) => console.log(line),
};

console.log(`starting Schemaless ${VERSION}, with data in ${flags.data}`);
const starting = startLocalStack(options);
let stopping = false;
let firstSignalAt = 0;
/** One Ctrl-C may arrive twice: from the terminal, and passed on by npm. */
const SAME_SIGNAL_MS = 500;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(signal));

let stack: LocalStack | undefined;
let watching: WatchedSources | undefined;
try {
  stack = await starting;
  if (!stopping) await show(stack);
  if (watch && !stopping) {
    // Files saved during the start are reloaded as well.
    watching = await watchSources(stack, (line) => console.log(line), performance.timeOrigin);
    console.log('functions and YAML are reloaded when they are saved');
  }
} catch (error) {
  // A stack stopped during its own check reports nothing more.
  if (!stopping) {
    console.error(messageOf(error));
    await stack?.stop();
    process.exit(1);
  }
}

async function show({ groups, datastores, retiredDatastores, functions, url }: LocalStack): Promise<void> {
  const nodes = groups.status();
  const readers = nodes.filter(({ role }) => role === 'reader').length;
  const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
  console.log(
    `${groups.engine.kind === 'mysql' ? 'MySQL' : 'MariaDB'} ${groups.engine.version}: ${counted(groups.groups.length, 'group')}, ${counted(nodes.length - readers, 'writer')} and ${counted(readers, 'reader')}`,
  );
  const named = (some: readonly { readonly name: string; readonly shards: number }[]): string =>
    some.map(({ name, shards }) => `${name} (${counted(shards, 'shard')})`).join(', ');
  console.log(`datastores: ${named(datastores)}`);
  if (retiredDatastores.length > 0) {
    const [its, it] = retiredDatastores.length === 1 ? ['Its', 'it'] : ['Their', 'them'];
    console.log(
      `not defined any more: ${named(retiredDatastores)}. ${its} cells are kept, and requests do not find ${it}. Define ${it} again to serve ${it}, or drop ${it}: infra/docs/operations/runbook.md#dropping-a-retired-datastore`,
    );
  }
  for (const line of await prove({
    url,
    datastores: datastores.map(({ name }) => name),
    readers: readers > 0 && flags.access === 'mysql',
    sign: localSigner(),
  }))
    console.log(line);
  if (flags.checkSignatures) {
    const { region, credentials } = awsLogin();
    console.log(
      `requests are signed (SigV4, execute-api): AWS_REGION=${region} AWS_ACCESS_KEY_ID=${credentials.accessKeyId}`,
    );
  }
  console.log(`ready ${url}`);
  // A browser does not sign requests; `schemaless console` does.
  if (!flags.checkSignatures) console.log(`console ${url}/console`);
  for (const line of await loadTriggers({ datastores, functions })) console.log(line);
}

async function stop(signal: NodeJS.Signals): Promise<void> {
  if (stopping) {
    if (performance.now() - firstSignalAt < SAME_SIGNAL_MS) return;
    // The servers are killed too; the next start recovers them.
    for (const { pid } of stack?.groups.status() ?? []) if (pid > 0) process.kill(pid, 'SIGKILL');
    process.exit(1);
  }
  stopping = true;
  firstSignalAt = performance.now();
  console.log(signal === 'SIGINT' ? 'stopping (Ctrl-C again to force it)' : 'stopping');
  try {
    const started = await starting;
    await watching?.close();
    await started.stop();
  } catch {
    // The start reports its own failure.
  }
  process.exit(0);
}
