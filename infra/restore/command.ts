/** `npm run restore-plan -- group-1 2026-11-30T10:00:00Z -c environment=prod`: prints the commands of a restore. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { readAppContext, type AppContext } from '../app-context.ts';
import { readContext } from '../preflight/command.ts';
import { DEPLOYED_APP, synthesize } from '../local/template/synthesize.ts';
import { restorePlan } from './plan.ts';

const command = new Command('npm run --silent restore-plan --')
  .description('Prints the commands that restore a group, or everything, on AWS. It asks and changes nothing.')
  .addArgument(new Argument('<what>', 'a group such as group-1, or all'))
  .addArgument(new Argument('<time>', 'in UTC, such as 2026-11-30T10:00:00Z').argParser(readTime))
  .option('-c, --context <key=value>', 'as for the deployment; environment=prod at least', readContext, {})
  .option('--deleted', 'the cluster no longer exists')
  .option('--vault <name>', 'from copies of AWS Backup, in this vault')
  .showHelpAfterError('(--help lists what there is)')
  .parse();
const { context, deleted = false, vault } = command.opts<{ context: AppContext; deleted?: true; vault?: string }>();
const [what = '', time = ''] = command.processedArgs as string[];
const folder = mkdtempSync(join(tmpdir(), 'schemaless-restore-'));
try {
  const { environment } = readAppContext(context);
  const { stacks } = await synthesize({ app: DEPLOYED_APP, context, folder });
  process.stdout.write(restorePlan({ stacks, environment, context, what, time, isDeleted: deleted, vault }));
} catch (error) {
  command.error(`error: ${error instanceof Error ? error.message : String(error)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function readTime(text: string): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/u.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError(`Wanted a time such as 2026-11-30T10:00:00Z, got ${text}.`);
}
