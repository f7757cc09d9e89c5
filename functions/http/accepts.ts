import { MESSAGE_PACK_NAMES } from '../../shared/api/message-pack.ts';

/**
 * How much a header such as `Accept` wants one of these names, 0 to 1. Wildcards count for nothing: who is sent
 * something out of the ordinary has to have named it.
 *
 * @param header undefined where there is none
 * @param names in lower case
 */
export function qualityOf(header: string | undefined, names: readonly string[]): number {
  let most = 0;
  for (const part of header?.split(',') ?? []) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    if (!names.includes(name)) continue;
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    most = Math.max(most, quality === undefined ? 1 : Number(quality.slice(2)) || 0);
  }
  return most;
}

/** Whether an answer goes in MessagePack: where `Accept` names it, and does not name JSON before it. */
export function wantsMessagePack(accept: string | undefined): boolean {
  if (accept === undefined || !/msgpack/i.test(accept)) return false;
  const quality = qualityOf(accept, MESSAGE_PACK_NAMES);
  return quality > 0 && quality >= qualityOf(accept, ['application/json']);
}

/** Whether `If-None-Match` names what would be answered. */
export function namesTag(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, ''))) === true;
}
