import { defineConfig } from 'vitest/config';

/** `npm run test:console`: tests the console in a browser on real stacks; separate, as few machines have a browser. */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    include: ['test/console/**/*.browser.ts'],
    // A test for people: its measurements are printed.
    silent: false,
    testTimeout: 120_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 30_000 } },
    // A stack and a browser each, of which two cores carry one.
    fileParallelism: false,
  },
});
