import { InvalidArgumentError, Option } from 'commander';
import { parseTime } from '../../shared/time.ts';
import { badUsage } from './errors.ts';
import { FORMATS } from './output/output.ts';

export function wholeNumberFlag(flags: string, description: string, min: number, max: number): Option {
  return new Option(flags, description).argParser((value: string) => wholeNumber(value, min, max));
}

export function wholeNumber(value: string, min: number, max: number): number {
  if (/^\d{1,16}$/u.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
  throw new InvalidArgumentError(`Wanted a whole number from ${min} to ${max}, got ${JSON.stringify(value)}.`);
}

export function oneOf<Choice extends string>(choices: readonly Choice[]): (value: string) => Choice {
  return (value) => {
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`Wanted ${choices.join(' or ')}, got ${JSON.stringify(value)}.`);
  };
}

/** Reads a time. Throws a CommandError that names the flag or argument. */
export function readTime(text: string, field: string, wanted = 'a time with zone like 2026-01-31T08:00:00Z'): string {
  try {
    return parseTime(text, field);
  } catch {
    throw badUsage(field, wanted, JSON.stringify(text.slice(0, 60)));
  }
}

export function repeatableFlag(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: readonly string[] = []) => [
    ...before,
    value,
  ]);
}

export function globalFlags(): readonly Option[] {
  return [
    new Option('--profile <name>', 'the profile of the API, see `schemaless profile` (SCHEMALESS_PROFILE)'),
    new Option('--url <url>', 'of the API (SCHEMALESS_URL; default: from the profile, else the local stack)'),
    new Option('-d, --datastore <name>', 'the datastore (SCHEMALESS_DATASTORE; default: the only one)'),
    new Option('--sign', 'sign requests for AWS (default: from the profile, or if the URL is of API Gateway)'),
    new Option('--no-sign', 'send them unsigned'),
    new Option('--region <region>', 'to sign requests for (AWS_REGION; default: from the URL)'),
    new Option('--format <format>', 'of results (default: table on a terminal, else ndjson)').choices(FORMATS),
    wholeNumberFlag('--timeout <seconds>', 'for one attempt of a request (default: 31)', 1, 3600),
  ];
}

export function readFlags(): readonly Option[] {
  return [readFlag(), wholeNumberFlag('--min-added-id <id>', 'that the role must have', 0, 2 ** 53 - 1)];
}

export function readFlag(): Option {
  return new Option('--read <role>', 'the role to ask (default: writer, which has all stored cells)').choices([
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
