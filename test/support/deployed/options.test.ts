import { expect, test } from 'vitest';
import { readOptions, smokeCommand, type SmokeOptions } from './options.ts';

/** Parses as the command line does, but throws instead of ending the process. */
function read(argv: readonly string[], environment: Readonly<Record<string, string>> = {}): SmokeOptions {
  return readOptions(
    argv,
    smokeCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => {} }),
    environment,
  );
}

test.each<[string, readonly string[], Readonly<Record<string, string>>, SmokeOptions]>([
  [
    'the URL',
    ['https://abc.execute-api.eu-west-1.amazonaws.com/'],
    { AWS_REGION: 'us-east-2' },
    { url: 'https://abc.execute-api.eu-west-1.amazonaws.com', region: 'eu-west-1' },
  ],
  [
    'the flag before all',
    ['https://abc.execute-api.eu-west-1.amazonaws.com', '--region', 'us-gov-west-1'],
    {},
    { url: 'https://abc.execute-api.eu-west-1.amazonaws.com', region: 'us-gov-west-1' },
  ],
  [
    'AWS_REGION',
    ['https://store.example.com/api'],
    { AWS_REGION: 'us-east-2', AWS_DEFAULT_REGION: 'us-west-1' },
    { url: 'https://store.example.com/api', region: 'us-east-2' },
  ],
  [
    'AWS_DEFAULT_REGION',
    ['https://store.example.com'],
    { AWS_REGION: '', AWS_DEFAULT_REGION: 'us-west-1' },
    { url: 'https://store.example.com', region: 'us-west-1' },
  ],
  ['nothing on one machine', ['http://127.0.0.1:4000'], {}, { url: 'http://127.0.0.1:4000', region: 'us-east-1' }],
])('the region comes from %s', (_, argv, environment, options) => {
  expect(read(argv, environment)).toEqual(options);
});

test.each([
  [[], /missing required argument 'url'/],
  [['abc.example.com'], /'abc\.example\.com' is invalid.*Wanted a URL like https:/],
  [['ftp://example.com'], /Wanted a URL like https:/],
  [['https://example.com/?a=b'], /Wanted a URL like https:/],
  [['https://store.example.com'], /'--region': wanted the region of AWS that store\.example\.com is in, got none/],
  [
    ['https://store.example.com', '--region', 'Europe'],
    /'Europe' is invalid.*Wanted the name of a region, like eu-west-1/,
  ],
  [['http://127.0.0.1:4000', 'more'], /too many arguments/],
])('%j is refused with a message that says why', (argv, message) => {
  expect(() => read(argv)).toThrow(message);
});
