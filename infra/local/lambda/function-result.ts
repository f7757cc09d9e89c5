/** A function's result as JSON text; an HTTP body is separate, so it is not escaped and parsed again. */
export interface FunctionResult {
  readonly text: string;
  /** Bytes are UTF-8 and move between threads without a copy, unless `decoded`. */
  readonly body?: string | Uint8Array;
  /** The body is already decoded from base64, in the function's own thread. */
  readonly decoded?: boolean;
}

export function functionResult(
  value: unknown,
): FunctionResult & { readonly body?: string; readonly isBase64?: boolean } {
  if (
    typeof value === 'object' &&
    value !== null &&
    'body' in value &&
    typeof value.body === 'string' &&
    !('toJSON' in value)
  ) {
    const { body, ...rest } = value;
    const isBase64 = 'isBase64Encoded' in value && value.isBase64Encoded === true;
    return { text: JSON.stringify(rest), body, isBase64 };
  }
  return { text: JSON.stringify(value) ?? 'null' };
}

/** Returns the whole JSON text, as Lambda does. */
export function wholeText({ text, body, decoded = false }: FunctionResult): string {
  return body === undefined ? text : JSON.stringify({ ...JSON.parse(text), body: textOf(body, decoded) });
}

export function textOf(body: string | Uint8Array, decoded = false): string {
  if (decoded) return Buffer.from(body).toString('base64');
  // Keeps a byte order mark.
  return typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
}
