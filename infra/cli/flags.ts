import { InvalidArgumentError, Option } from 'commander';
import { FORMATS } from './output/output.ts';

export function wholeNumberFlag(flags: string, description: string, min: number, max: number): Option {
  return new Option(flags, description).argParser((value: string) => wholeNumber(value, min, max));
}

export function wholeNumber(value: string, min: number, max: number): number {
  if (/^\d{1,16}$/u.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
  throw new InvalidArgumentError(`Wanted a whole number from ${min} to ${max}, got ${JSON.stringify(value)}.`);
}

export function repeatableFlag(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: readonly string[] = []) => [
    ...before,
    value,
  ]);
}

export function globalFlags(): readonly Option[] {
  return [
    new Option('--profile <name>', 'whose API is asked, see `schemaless profile` (SCHEMALESS_PROFILE)'),
    new Option('--url <url>', 'of the API (SCHEMALESS_URL; default: of the profile, else the local stack)'),
    new Option('-d, --datastore <name>', 'that is meant (SCHEMALESS_DATASTORE; default: the only one there is)'),
    new Option('--sign', 'sign requests for AWS (default: as the profile says, or where the URL is of API Gateway)'),
    new Option('--no-sign', 'send them unsigned'),
    new Option('--region <region>', 'that requests are signed for (AWS_REGION; default: of the URL)'),
    new Option('--format <format>', 'of results (default: table on a terminal, ndjson else)').choices(FORMATS),
    wholeNumberFlag('--timeout <seconds>', 'for one attempt of a request (default: 31)', 1, 3600),
  ];
}

export function readFlags(): readonly Option[] {
  return [readFlag(), wholeNumberFlag('--min-added-id <id>', 'that the answer has to have seen', 0, 2 ** 53 - 1)];
}

export function readFlag(): Option {
  return new Option('--read <role>', 'who is asked (default: writer, which has what was written)').choices([
    'writer',
    'reader',
  ]);
}

export function limitFlag(of: string): Option {
  return wholeNumberFlag('-n, --limit <count>', `${of} at most (default: all)`, 1, 2 ** 53 - 1);
}

export function shardNumbers(value: string, before: readonly number[] = []): readonly number[] {
  return [...before, wholeNumber(value, 0, 65_535)];
}
