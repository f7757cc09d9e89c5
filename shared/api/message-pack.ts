/** The media type of MessagePack, as IANA has registered it. */
export const MESSAGE_PACK = 'application/vnd.msgpack';

/** Whether an answer is MessagePack; of a header's value. */
export function isMessagePack(contentType: string | null | undefined): boolean {
  return contentType === MESSAGE_PACK;
}
