import type { Json } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { readNumber } from './number.ts';
import { keepOrder } from './key-order.ts';

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids exactly these in a string
const NOT_PLAIN = /[\\\u0000-\u001f]/;
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;
const INDEX_LIKE = /^(?:0|[1-9]\d*)$/;

export class JsonReader {
  #at = 0;
  readonly #text: string;
  readonly #field: string;
  readonly #maxDepth: number;

  constructor(text: string, field: string, maxDepth: number) {
    this.#text = text;
    this.#field = field;
    this.#maxDepth = maxDepth;
  }

  readAll(): Json {
    if (!this.#text.isWellFormed()) throw this.#refuse('well-formed Unicode', 'a lone surrogate');
    this.#skipSpace();
    const value = this.#readValue(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#refuse('the end', this.#here());
    return value;
  }

  #readValue(depth: number): Json {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return this.#readObject(depth + 1);
      case 0x5b:
        return this.#readArray(depth + 1);
      case 0x22:
        return this.#readString();
      case 0x74:
        return this.#readWord('true', true);
      case 0x66:
        return this.#readWord('false', false);
      case 0x6e:
        return this.#readWord('null', null);
      default:
        return this.#readNumber();
    }
  }

  #readObject(depth: number): Json {
    this.#enter(depth);
    const object: Record<string, Json> = {};
    const keys: string[] = [];
    let indexLike = false;
    if (this.#skip(0x7d)) return object;
    for (;;) {
      if (this.#text.charCodeAt(this.#at) !== 0x22) throw this.#refuse('a key in double quotes', this.#here());
      const start = this.#at;
      const key = this.#readString();
      if (Object.hasOwn(object, key)) {
        this.#at = start;
        throw this.#refuse('each key once in an object', `the key ${JSON.stringify(key.slice(0, 60))} again`);
      }
      this.#skipSpace();
      if (!this.#skip(0x3a)) throw this.#refuse('":"', this.#here());
      const value = this.#readValue(depth);
      if (key === '__proto__') {
        // A plain assignment would set the prototype.
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      } else {
        object[key] = value;
      }
      keys.push(key);
      indexLike ||= INDEX_LIKE.test(key);
      this.#skipSpace();
      if (this.#skip(0x2c)) continue;
      if (this.#skip(0x7d)) break;
      throw this.#refuse('"," or "}"', this.#here());
    }
    if (indexLike) keepOrder(object, keys);
    return object;
  }

  #readArray(depth: number): Json {
    this.#enter(depth);
    const array: Json[] = [];
    if (this.#skip(0x5d)) return array;
    for (;;) {
      array.push(this.#readValue(depth));
      this.#skipSpace();
      if (this.#skip(0x2c)) continue;
      if (this.#skip(0x5d)) return array;
      throw this.#refuse('"," or "]"', this.#here());
    }
  }

  /** Passes the opening bracket. */
  #enter(depth: number): void {
    if (depth > this.#maxDepth) {
      throw this.#refuse(`arrays and objects nested ${this.#maxDepth} deep at most`, 'deeper nesting');
    }
    this.#at += 1;
    this.#skipSpace();
  }

  #readString(): string {
    const text = this.#text;
    const at = this.#at;
    const end = text.indexOf('"', at + 1);
    const plain = text.slice(at + 1, end);
    if (end >= 0 && !NOT_PLAIN.test(plain)) {
      this.#at = end + 1;
      return plain;
    }
    STRING.lastIndex = at;
    const quoted = STRING.exec(text)?.[0];
    if (quoted === undefined) throw this.#refuse('a closing double quote', 'the end of the text');
    let value: string;
    try {
      value = JSON.parse(quoted) as string;
    } catch {
      throw this.#refuse('a string with JSON escapes', JSON.stringify(quoted.slice(0, 40)));
    }
    if (!value.isWellFormed()) throw this.#refuse('well-formed Unicode', 'a lone surrogate');
    this.#at = at + quoted.length;
    return value;
  }

  #readNumber(): Json {
    NUMBER.lastIndex = this.#at;
    const literal = NUMBER.exec(this.#text)?.[0];
    if (literal === undefined) throw this.#refuse('a JSON value', this.#here());
    const value = readNumber(literal);
    if (value === undefined) {
      throw this.#refuse(
        'a number that 64 bits keep (integers -2^63 to 2^64-1, others if a double prints their digits again)',
        literal.slice(0, 60),
      );
    }
    this.#at += literal.length;
    return value;
  }

  #readWord<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#refuse('a JSON value', this.#here());
    this.#at += word.length;
    return value;
  }

  #skip(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at += 1;
    this.#skipSpace();
    return true;
  }

  #skipSpace(): void {
    if (this.#text.charCodeAt(this.#at) > 0x20) return;
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.#text);
    this.#at = SPACE.lastIndex;
  }

  #here(): string {
    return this.#at >= this.#text.length
      ? 'the end of the text'
      : JSON.stringify(this.#text.slice(this.#at, this.#at + 12));
  }

  #refuse(wanted: string, got: string): SchemalessError {
    const before = this.#text.slice(0, this.#at).split('\n');
    const position = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    const message = `${this.#field}: wanted ${wanted}, got ${got} (${position})`;
    return new SchemalessError('invalid_json', message, { field: this.#field, wanted, got });
  }
}
