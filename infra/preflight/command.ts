/** Checks whether an account and region would accept a first deployment: `npm run preflight -- -c environment=prod`. */
import { STSClient } from '@aws-sdk/client-sts';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { CONTEXT_KEYS, type AppContext } from '../app-context.ts';
import { AwsBySdk } from '../../shared/preflight/aws-by-sdk.ts';
import type { Needs } from '../../shared/preflight/needs.ts';
import { EXIT_CODES, jsonOf, tableOf, verdictOf } from './report.ts';
import { runChecks } from '../../shared/preflight/run-checks.ts';

interface Flags {
  readonly context: AppContext;
  readonly region?: string;
  readonly profile?: string;
  readonly json?: boolean;
}

export function readContext(text: string, before: AppContext): AppContext {
  const [key, ...value] = text.split('=');
  const known = CONTEXT_KEYS.find((name) => name === key);
  if (known === undefined || value.length === 0)
    throw new InvalidArgumentError(`Wanted KEY=VALUE with a key of ${CONTEXT_KEYS.join(', ')}, got ${text}.`);
  return { ...before, [known]: value.join('=') };
}

function preflightCommand(): Command {
  return new Command('npm run preflight --')
    .description(
      'Whether an AWS account and region would take a first deployment, and what to ask AWS for where not. It only reads.',
    )
    .option('-c, --context <key=value>', 'as for the deployment; environment=prod at least', readContext, {})
    .option('--region <region>', 'to deploy to (default: AWS_REGION, AWS_DEFAULT_REGION, that of the profile)')
    .option('--profile <name>', 'of the AWS configuration on this machine (default: AWS_PROFILE)')
    .option('--json', 'for programs, in place of the table')
    .addHelpText(
      'after',
      `
Ends with 0 when all is well, with 1 when something fails, and with 2 when nothing fails but not everything could be
judged: without credentials, without a right (the table says which IAM action is missing), or with flags or a context
that cannot be used.`,
    )
    .showHelpAfterError('(--help lists what there is)')
    .exitOverride();
}

interface Output {
  readonly stdout: (text: string) => unknown;
  readonly stderr: (text: string) => unknown;
}

export async function preflight(argv: readonly string[], { stdout, stderr }: Output): Promise<number> {
  const command = preflightCommand().configureOutput({ writeOut: stdout, writeErr: stderr });
  try {
    command.parse(argv, { from: 'user' });
    return await judge(command, stdout);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.unknown;
  }
}

async function judge(command: Command, stdout: Output['stdout']): Promise<number> {
  const flags = command.opts<Flags>();
  const { context, json = false, profile } = flags;
  if (context.environment === 'local')
    command.error('error: environment: wanted one that is deployed to AWS, got local, which runs on one machine');
  // First, since the synthesis takes seconds.
  const region = await regionOr(flags, () =>
    command.error('error: --region: wanted a region (or AWS_REGION, or one of the profile), got none'),
  );
  const needs = await needed(command, context);
  const findings = await runChecks(needs, new AwsBySdk({ region, profile }));
  const environment = String(context.environment);
  stdout(`${json ? jsonOf(environment, region, findings) : tableOf(environment, findings)}\n`);
  return EXIT_CODES[verdictOf(findings)];
}

async function needed(command: Command, context: AppContext): Promise<Needs> {
  // Loads the CDK after the flags are checked.
  const { needsOf } = await import('./synthesized-needs.ts');
  try {
    return needsOf(context);
  } catch (error) {
    return command.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** As the CDK's command line and the SDK do. */
async function regionOr({ region, profile }: Pick<Flags, 'region' | 'profile'>, none: () => never): Promise<string> {
  const given = region ?? process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'];
  if (given !== undefined && given !== '') return given;
  try {
    return await new STSClient({ ...(profile !== undefined && { profile }) }).config.region();
  } catch {
    return none();
  }
}

if (import.meta.main)
  process.exitCode = await preflight(process.argv.slice(2), {
    stdout: (text) => process.stdout.write(text),
    stderr: (text) => process.stderr.write(text),
  });
