/**
 * What MessagePack is called. `application/vnd.msgpack` is what IANA has registered since May 2024; programs from before
 * say one of the others, which are taken, and answered with the registered name.
 */
export const MESSAGE_PACK = 'application/vnd.msgpack';
export const MESSAGE_PACK_NAMES = [MESSAGE_PACK, 'application/msgpack', 'application/x-msgpack'] as const;

/** Whether an answer is MessagePack; of a header's value. */
export function isMessagePack(contentType: string | null | undefined): boolean {
  return contentType === MESSAGE_PACK;
}
