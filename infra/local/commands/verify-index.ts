/** `npm run verify-index -- NAME`: compares an index of a running local stack with what its cells say. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { verifyIndex, type IndexProblem, type Verification } from '../../../shared/index/verify.ts';
import type { PhysicalIndex } from '../../../shared/index/index-table.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import { openContext } from '../../../shared/access/context.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import type { TopologySource } from '../../../shared/topology/topology.ts';
import { requireDatastore } from '../../../shared/access/groups.ts';
import { dynamoClient } from '../login/clients.ts';
import { sendCommand } from '../control/control-client.ts';
import { dataFolder } from '../folder/data-folder.ts';
import { tableOf, type Endpoints } from '../running/endpoints.ts';
import { dataFlag } from './flags.ts';
import { messageOf } from '../message-of.ts';

/** Problems listed; the rest is only counted. */
const SHOWN = 100;

interface VerifyFlags {
  readonly data: string;
  readonly datastore: string;
  readonly repair?: true;
}

await new Command('npm run verify-index --')
  .description(
    'Compares an index of the running local stack with its cells: every row with its entry, every entry with its row. Ends with 1 when something is wrong and was not repaired.',
  )
  .argument('<name>', 'of the index')
  .option('--datastore <name>', 'that it belongs to', 'trips')
  .addOption(dataFlag())
  .option('--repair', 'repair what is found')
  .showHelpAfterError()
  .action(async (name: string, flags: VerifyFlags) => {
    try {
      process.exitCode = show(name, await verify(name, flags), flags.repair === true);
    } catch (error) {
      console.error(messageOf(error));
      process.exitCode = 1;
    }
  })
  .parseAsync();

async function verify(name: string, { data, datastore, repair }: VerifyFlags): Promise<Verification> {
  const endpoints = await endpointsOf(resolve(data));
  using client = dynamoClient(endpoints.dynamodb);
  const topology = dynamoTopology({ client, table: tableOf(endpoints, 'topology') });
  const context = openContext({
    topology,
    connect: (group) => {
      const login = endpoints.groups.find((one) => one.name === group.name)?.writer;
      return mysqlClient(group, async () => ({ username: login?.user ?? '', password: login?.password ?? '' }));
    },
    bufferCopies: 0,
  });
  try {
    return await verifyIndex(context, datastore, await findIndex(topology, datastore, name), {
      repair: repair === true,
    });
  } finally {
    await context.groups.close();
  }
}

/** Throws an `Error` to be shown when no stack runs there. */
async function endpointsOf(data: string): Promise<Endpoints> {
  await sendCommand(data, 'status');
  const { endpoints } = dataFolder(data);
  if (!existsSync(endpoints))
    throw new Error(`The stack on ${data} is still starting: try again once its address is shown`);
  return JSON.parse(readFileSync(endpoints, 'utf8')) as Endpoints;
}

async function findIndex(topology: TopologySource, datastore: string, name: string): Promise<PhysicalIndex> {
  await requireDatastore(topology, datastore);
  const catalogues = await topology.indexes(datastore);
  const versions = catalogues.find((one) => one.name === name)?.versions ?? [];
  const live = versions.find(({ state }) => state === 'live');
  if (live) return { name, hash: live.hash, definition: live.definition };
  if (versions.some(({ state }) => state === 'building'))
    throw new Error(`${name} is being built: verify it once it is live`);
  const known = catalogues.filter((one) => one.versions.some(({ state }) => state === 'live')).map((one) => one.name);
  throw new Error(
    `name: wanted an index of ${datastore}, one of ${known.join(', ') || '(none)'}, got ${JSON.stringify(name)}`,
  );
}

function show(
  name: string,
  { rows, entries, found, problems, repaired, failed }: Verification,
  repair: boolean,
): number {
  const count = (kind: IndexProblem['kind']): string => `${found[kind]} ${kind}`;
  const all = found.missing + found.extra + found.wrong;
  for (const { kind, row_key, value } of problems.slice(0, SHOWN))
    console.log(`${kind.padEnd(7)}  row ${row_key}  under ${String(value)}`);
  if (all > SHOWN) console.log(`… and ${all - SHOWN} more`);
  console.log(
    `${name}: ${rows} rows, ${entries} entries: ${count('missing')}, ${count('extra')}, ${count('wrong')}${repair ? `; ${repaired} entries written` : ''}`,
  );
  for (const [shard, error] of failed) console.log(`shard ${shard} could not be compared whole: ${messageOf(error)}`);
  if (failed.size > 0) return 1;
  if (all === 0) return 0;
  if (!repair) console.log('Fix them with --repair.');
  return repair ? 0 : 1;
}
