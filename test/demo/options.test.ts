import { expect, test } from 'vitest';
import { demoCommand, readOptions, type DemoOptions } from './options.ts';

/** Parses as the command line does, but throws instead of ending the process. */
function read(...argv: readonly string[]): DemoOptions {
  return readOptions(
    argv,
    demoCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => {} }),
  );
}

test('everything has a default, and a URL loses its last slash', () => {
  expect(read()).toEqual({ trips: 2000, data: '.local', seed: '1', access: 'mysql' });
  expect(read('--url', 'http://127.0.0.1:4000/').url).toBe('http://127.0.0.1:4000');
});

test.each([
  [['--trips', '0'], /--trips.*whole number from 1 to/],
  [['--trips', '1e3'], /--trips.*whole number from 1 to/],
  [['--url', 'ftp://example.org'], /--url.*http:\/\/127/],
  [['--url', 'http://127.0.0.1:1', '--data', 'x'], /--url.*cannot be used with.*--data/],
  [['--access', 'http'], /--access.*mysql, data-api/],
  [['--speed'], /unknown option '--speed'/],
  [['more'], /too many arguments/],
])('%j is refused with a message that says why', (argv, message) => {
  expect(() => read(...argv)).toThrow(message);
});
