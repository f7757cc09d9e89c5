import type { Finding } from './check.ts';

/** CloudFormation takes 4,096 bytes of an answer: ids, the place of the log, and this. */
const MOST_TEXT = 3000;
/** One reason is not to push out the others. */
const MOST_REASON = 280;

/**
 * What a deployment fails with: all that is in the way. On one line, since the provider framework shows whatever
 * follows the first line of an error twice.
 */
export function refusalOf(failures: readonly Finding[]): string {
  const head = `this account does not take the deployment, for ${failures.length} ${failures.length === 1 ? 'reason' : 'reasons'}:`;
  const said: string[] = [head];
  for (const [at, failure] of failures.entries()) {
    const reason = `${at + 1}) ${cut(reasonOf(failure))}`;
    const left = `and ${failures.length - at} more, in the log`;
    if ([...said, reason, left].join(' ').length > MOST_TEXT) return [...said, left].join(' ');
    said.push(reason);
  }
  return said.join(' ');
}

function reasonOf({ check, wanted, found, todo, link }: Finding): string {
  const what = [todo, link].filter((text) => text !== undefined).join(': ');
  return `${check}: wanted ${wanted}, found ${found}${what === '' ? '' : `; ${what}`}.`;
}

/** ASCII, so that a character is a byte. */
function cut(text: string): string {
  const plain = text.replaceAll(/[^\u0020-\u007e]/gu, '?');
  return plain.length <= MOST_REASON ? plain : `${plain.slice(0, MOST_REASON - 3)}...`;
}
