import { createHash } from 'node:crypto';
import { writeJson } from '../../shared/body/json.ts';
import type { Answer } from './answer.ts';

/**
 * Answers 304 without a body if `If-None-Match` names the answer's tag. Tags untagged answers in JSON, but no
 * MessagePack and no other status than 200. `known`: the header `If-None-Match` of a GET.
 */
export function unlessKnown(answer: Answer, known: string | undefined): Answer {
  const tagged = withTag(answer);
  const etag = tagged.headers?.['etag'];
  if (etag === undefined || !namesTag(known, etag)) return tagged;
  return { ...tagged, status: 304, made: { body: '', isBase64Encoded: false } };
}

/** The tag is weak, since the answer may be compressed. Caches must not store it, since it may contain bodies. */
function withTag(answer: Answer): Answer {
  if (answer.status !== 200 || answer.made !== undefined || answer.packed === true) return answer;
  const json = answer.json ?? writeJson(answer.body);
  const tag = createHash('sha256').update(json.text).digest('base64url').slice(0, 22);
  return { ...answer, json, headers: { ...answer.headers, etag: `W/"${tag}"`, 'cache-control': 'no-store' } };
}

function namesTag(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => ['*', strong(etag)].includes(strong(tag.trim()))) === true;
}

const strong = (tag: string): string => tag.replace(/^W\//, '');
