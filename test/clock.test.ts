import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../infra/app-context.ts';

/** Lets time pass, starts a timer, or measures how long something took. */
const CLOCK = /\b(?:sleep|setTimeout|setInterval)\(|\bperformance\.now\(\)|\bDate\.now\(\)|\bpauseFor\(/u;
/** Allows the line behind it, and says why: `// Clock: the server's own limit is a second`. */
const REASON = /\/\/ Clock: \S/u;

/** Test files, and the toolboxes that they share. Benches and fault runs measure, so that theirs are not among them. */
const FILES = ['test/**/*.test.ts', 'test/support/**/*.ts', 'test/*/**/support/**/*.ts'];

it('finds what lets time pass or measures it', () => {
  expect(readers('await sleep(20);\n')).toEqual([1]);
  expect(readers('x();\nconst start = performance.now();\n')).toEqual([2]);
  expect(readers('setTimeout(end, 5);\nsetTimeout(end, 6);')).toEqual([1, 2]);
  expect(readers('// Clock: the limit under test is the server’s own.\nawait sleep(20);\n')).toEqual([]);
  expect(readers('await sleep(20); // Clock: a busy loop\n')).toEqual([]);
  expect(readers('  // await sleep(20);\nsleeper(1);\nsocket.setTimeout\n')).toEqual([]);
});

it('no test waits for a time to pass or judges how long something took, unless the line says why', () => {
  const found = FILES.flatMap((pattern) => globSync(pattern, { cwd: PROJECT_ROOT }))
    .filter((file) => file !== 'test/clock.test.ts')
    .flatMap((file) => readers(readFileSync(join(PROJECT_ROOT, file), 'utf8')).map((line) => `${file}:${line}`));
  expect([...new Set(found)].sort()).toEqual([]);
});

/** Numbers of the lines that use the clock without a reason. */
function readers(text: string): readonly number[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) =>
    CLOCK.test(line.replace(/^\s*(?:\/\/|\*).*/u, '')) && !REASON.test(line) && !REASON.test(lines[at - 1] ?? '')
      ? [at + 1]
      : [],
  );
}
