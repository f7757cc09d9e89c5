/**
 * What a function gave, as JSON text. The `body` of an answer to HTTP comes beside it: as part of the text it would be
 * escaped, copied and read once more.
 */
export interface FunctionResult {
  /** Without the `body` that came apart. */
  readonly text: string;
  /** UTF-8 where it is bytes, which threads hand over without copying them; unless it is `decoded`. */
  readonly body?: string | Uint8Array;
  /** The body is what its base64 stood for: decoded where the function runs, not where all answers pass. */
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

/** The JSON text of all of it, as Lambda hands it on. */
export function wholeText({ text, body, decoded = false }: FunctionResult): string {
  return body === undefined ? text : JSON.stringify({ ...JSON.parse(text), body: textOf(body, decoded) });
}

export function textOf(body: string | Uint8Array, decoded = false): string {
  if (decoded) return Buffer.from(body).toString('base64');
  // A byte order mark is kept, as in a text that was never bytes.
  return typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
}
