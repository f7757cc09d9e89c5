import { defineConfig } from 'vitest/config';

/** `npm run test:console`: the console in a real browser, on real stacks; a test of its own, since few machines have one. */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    include: ['test/console/**/*.browser.ts'],
    // A test for people: what it measures is printed.
    silent: false,
    testTimeout: 120_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 30_000 } },
    // A stack and a browser each, of which two cores carry one.
    fileParallelism: false,
  },
});
