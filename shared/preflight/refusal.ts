import type { Finding } from './check.ts';

/** CloudFormation limits an answer to 4,096 bytes, with ids and the log's place. */
const MOST_TEXT = 3000;
/** Limits a reason, so that others fit. */
const MOST_REASON = 280;

/** Formats a deployment's error with every obstacle, on one line: the provider framework repeats further lines. */
export function refusalOf(failures: readonly Finding[]): string {
  const head = `this account does not take the deployment, for ${failures.length} ${failures.length === 1 ? 'reason' : 'reasons'}:`;
  const parts: string[] = [head];
  for (const [at, failure] of failures.entries()) {
    const reason = `${at + 1}) ${cut(reasonOf(failure))}`;
    const left = `and ${failures.length - at} more, in the log`;
    if ([...parts, reason, left].join(' ').length > MOST_TEXT) return [...parts, left].join(' ');
    parts.push(reason);
  }
  return parts.join(' ');
}

function reasonOf({ check, wanted, found, todo, link }: Finding): string {
  const what = [todo, link].filter((text) => text !== undefined).join(': ');
  return `${check}: wanted ${wanted}, found ${found}${what === '' ? '' : `; ${what}`}.`;
}

/** ASCII: one byte a character. */
function cut(text: string): string {
  const plain = text.replaceAll(/[^\u0020-\u007e]/gu, '?');
  return plain.length <= MOST_REASON ? plain : `${plain.slice(0, MOST_REASON - 3)}...`;
}
