/** The media type of MessagePack, as IANA has registered it. */
export const MESSAGE_PACK = 'application/vnd.msgpack';
