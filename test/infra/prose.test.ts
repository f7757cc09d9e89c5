import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EXCEPTIONS, findings } from '../../infra/docs/prose.ts';

const WRONG: readonly (readonly [string, string])[] = [
  ['What is known of a shard is read from its log.', 'begins with a clause of "What"'],
  ['Where another body is there, it is `conflict`.', 'begins with a clause of "Where"'],
  ['That the table is locked is seen by the drain.', 'begins with a clause of "That"'],
  ['Whoever reads knows the rules as of a minute ago.', 'begins with a clause of "Whoever"'],
  ['Nobody is kept out by a new password.', '"Nobody" names no actor'],
  ['It can be erased, by who asks or after a time.', '"who" stands behind no noun'],
  ['A bell wakes the tailer of a shard.', '"bell" has a private sense, write notification'],
  ['The drain asks the holder of the copy.', '"holder" has a private sense, write hint holder'],
  ['One shard at fault costs itself alone.', '"at fault" has a private sense, write faulty or failing'],
  [`The drain deletes ${'one copy and then '.repeat(8)}the rest.`, 'has 37 words instead of at most 30'],
];

it.each(WRONG)('finds: %s', (sentence, wrong) => {
  expect(findings('a.md', `# A page\n\nGood.\n${sentence}\n`)).toContain(`a.md:4: ${wrong}: ${sentence}`);
});

it('passes plain sentences, questions, short headings, and names in code and links', () => {
  const page = `# What it needs

The drain deletes the hint after the append. The hint holder then sends a notification to every
tailer that waits. Where does a reader stop? An operator who restores a group stops the drain first.
See [the alarm](runbook.md#buffer-in-doubt), \`undecided\` and buffer-in-doubt.

\`\`\`sh
echo "Nobody heeds a bell once more"
\`\`\`
`;
  expect(findings('a.md', page)).toEqual([]);
});

it('judges comments, titles and messages of a program, and neither its code nor its SQL', () => {
  const program = `/**
 * Appends a cell. Whoever
 * appends it is told once.
 */
export const crew = 'wish';
// What is read is shown, and no more.
it('keeps what nobody has asked for', () => {
  throw new Error(\`the holder of \${name} is gone for good\`);
});
const sql = 'SELECT holder FROM t WHERE nobody = ? AND wish = 1';
`;
  expect(findings('a.ts', program).map((one) => one.split(':').slice(0, 3).join(':'))).toEqual([
    'a.ts:2: begins with a clause of "Whoever"',
    'a.ts:2: "Whoever" names no actor',
    'a.ts:6: begins with a clause of "What"',
    'a.ts:7: "nobody" names no actor',
    'a.ts:8: "holder" has a private sense, write hint holder',
  ]);
});

it('judges each list item and table cell as a sentence, on its line', () => {
  const words = 'a shard '.repeat(10);
  const page = `- ${words}\n- ${words}\n\n| term | meaning |\n|---|---|\n| ${words} | ${words} |\n| crew | b |\n`;
  expect(findings('a.md', page)).toEqual(['a.md:7: "crew" has a private sense, write worker group: crew']);
});

it('counts a code span and a link by their visible words', () => {
  const page = `${'`npm run check -- all` '.repeat(15)}${'[a](b.md) '.repeat(15)}`;
  expect(findings('a.md', page)).toEqual([]);
  expect(findings('a.md', `${page} c`)).toHaveLength(1);
});

it('has at most 20 exceptions, each for words that its page still has', () => {
  expect(EXCEPTIONS.length).toBeLessThanOrEqual(20);
  for (const { file, words, reason } of EXCEPTIONS) {
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').replaceAll(/\s+/gu, ' ')).toContain(words);
    expect(reason).not.toBe('');
  }
});
