import { decodeBody } from '../../shared/body/codec.ts';
import { stringifyJson } from '../../shared/body/json.ts';

const HEX = /(?:[\da-f]{2}){6,}/giu;
/** JSON of a Buffer, or of another array of bytes. */
const NUMBERS = /(?<=[[{])(?:(?:"\d+":)?\d{1,3},){5,}(?:"\d+":)?\d{1,3}(?=[\]}])/gu;
const BASE64 = /[\w+/-]{12,}={0,2}/gu;

/** A log's text, then all that its literals and encoded bytes hold: bodies of cells inflated, as JSON. */
export function decodedLog(text: string): string {
  const packed = [
    ...matches(text, HEX).map((hex) => Buffer.from(hex, 'hex')),
    ...matches(text, NUMBERS).map((list) =>
      Buffer.from(
        list
          .replaceAll(/"\d+":/gu, '')
          .split(',')
          .map(Number),
      ),
    ),
    ...matches(text, BASE64).map((encoded) => Buffer.from(encoded, 'base64')),
  ];
  return [text, ...packed.flatMap((bytes) => [bytes.toString('latin1'), bodyIn(bytes)])].join('\n');
}

const matches = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([found]) => found);

function bodyIn(bytes: Buffer): string {
  try {
    return stringifyJson(decodeBody(bytes));
  } catch {
    return '';
  }
}
