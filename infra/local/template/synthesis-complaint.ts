import { PROJECT_ROOT } from '../../app-context.ts';

/** Shortens a failed process's output: the stack keeps its innermost frame outside packages. */
export function whatIsWrong(complaint: string): string {
  let hasFrame = false;
  const lines = complaint
    .trim()
    .split('\n')
    .filter((line) => {
      if (/^Node\.js v\d/u.test(line)) return false;
      if (!/^\s+at /u.test(line)) return true;
      const isOurs = !hasFrame && line.includes(PROJECT_ROOT) && !line.includes('node_modules');
      hasFrame ||= isOurs;
      return isOurs;
    });
  return lines
    .join('\n')
    .replaceAll(/\n{2,}/gu, '\n')
    .trim();
}
