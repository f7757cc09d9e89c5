import { expect, test } from 'vitest';
import { demoCommand, readOptions, type DemoOptions } from './options.ts';

/** As the command line would, but throws instead of ending the process. */
function read(...argv: readonly string[]): DemoOptions {
  return readOptions(
    argv,
    demoCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => {} }),
  );
}

test('everything has a default', () => {
  expect(read()).toEqual({
    trips: 2000,
    url: undefined,
    data: '.local',
    seed: '1',
    concurrency: 16,
    batch: 20,
    size: 'usual',
    access: 'mysql',
  });
});

test('a URL loses its last slash', () => {
  expect(read('--url', 'http://127.0.0.1:4000/').url).toBe('http://127.0.0.1:4000');
});

test.each([
  [['--trips', '0'], /--trips.*integer from 1 to/],
  [['--trips', '1e3'], /--trips.*integer from 1 to/],
  [['--batch', '101'], /--batch.*integer from 1 to 100/],
  [['--concurrency', '-1'], /--concurrency/],
  [['--url', 'ftp://example.org'], /--url.*http:\/\/127/],
  [['--seed', ''], /--seed.*not empty/],
  [['--size', 'small'], /--size.*usual, uber/],
  [['--url', 'http://127.0.0.1:1', '--data', 'x'], /--url.*cannot be used with.*--data/],
  [['--access', 'http'], /--access.*mysql, data-api/],
  [['--speed'], /unknown option '--speed'/],
  [['more'], /too many arguments/],
])('%j is refused with a message that says why', (argv, message) => {
  expect(() => read(...argv)).toThrow(message);
});
