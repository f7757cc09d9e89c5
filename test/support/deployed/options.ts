import { Command, InvalidArgumentError, Option } from 'commander';

export interface SmokeOptions {
  /** Without a slash at the end. */
  readonly url: string;
  /** That requests are signed for. */
  readonly region: string;
}

/**
 * Reads the command line. Ends the process with a line that names an unusable option.
 *
 * @param environment variables, such as `AWS_REGION` @default those of this process
 */
export function readOptions(
  argv: readonly string[],
  command = smokeCommand(),
  environment: Readonly<Record<string, string | undefined>> = process.env,
): SmokeOptions {
  command.parse([...argv], { from: 'user' });
  const [url = ''] = command.processedArgs as readonly string[];
  const region = command.opts<{ readonly region?: string }>().region ?? regionOf(new URL(url), environment);
  if (region === undefined)
    command.error(`error: option '--region': wanted the region of AWS that ${new URL(url).host} is in, got none`);
  return { url, region: region ?? '' };
}

export function smokeCommand(): Command {
  return new Command('npm run smoke --')
    .description(
      'Checks a deployed environment as a client does: writes cells into its datastore smoke, reads them back, queries indexes, waits for a trigger.',
    )
    .argument('<url>', 'of the HTTP API, as the service stack prints it', httpUrl)
    .addOption(
      new Option(
        '--region <name>',
        'that requests are signed for (default: as the URL says, else AWS_REGION)',
      ).argParser(regionName),
    );
}

/** Whether a host is this machine: a local stack, which has no region and may check no signatures. */
export function isLocal({ hostname }: Pick<URL, 'hostname'>): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u.test(hostname);
}

function regionOf(url: URL, environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const [, named] = /\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/u.exec(url.hostname) ?? [];
  const given = [named, environment['AWS_REGION'], environment['AWS_DEFAULT_REGION']].find(
    (one) => one !== undefined && one !== '',
  );
  return given ?? (isLocal(url) ? 'us-east-1' : undefined);
}

function httpUrl(value: string): string {
  if (URL.canParse(value) && /^https?:$/u.test(new URL(value).protocol) && !/[?#]/u.test(value))
    return value.replace(/\/+$/u, '');
  throw new InvalidArgumentError('Wanted a URL like https://abc123.execute-api.eu-west-1.amazonaws.com.');
}

function regionName(value: string): string {
  if (/^[a-z]{2}(?:-[a-z]+)+-\d$/u.test(value)) return value;
  throw new InvalidArgumentError('Wanted the name of a region, like eu-west-1.');
}
