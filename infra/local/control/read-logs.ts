import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { setAside } from '../lambda/function-log.ts';
import type { DataFolder } from '../folder/data-folder.ts';

export interface LogLine {
  readonly time: string;
  /** Title of the function, or `gateway`, `schedule`, `queue`. */
  readonly title: string;
  /** The logged JSON object; other text as `message`. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export function parseLogLine(text: string): LogLine | undefined {
  const [, time, title, rest] = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (\S+) (.*)$/u.exec(text) ?? [];
  if (time === undefined || title === undefined || rest === undefined) return undefined;
  return { time, title, fields: fieldsOf(rest), text };
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  if (text.startsWith('{'))
    try {
      return JSON.parse(text) as Readonly<Record<string, unknown>>;
    } catch {
      // Text that begins like JSON.
    }
  return { message: text };
}

const KNOWN = new Set([
  'level',
  'message',
  'timestamp',
  'service',
  'time',
  'sampling_rate',
  'request_id',
  'xray_trace_id',
  '_aws',
]);

export function showLogLine({ time, title, fields }: LogLine): string {
  const { level, message, request_id: id } = fields;
  const words = [time.slice(11, -1), title];
  if ('_aws' in fields) words.push('counted');
  else words.push(...(level === undefined ? [] : [String(level)]), String(message ?? ''));
  for (const [key, value] of Object.entries(fields))
    if (!KNOWN.has(key))
      words.push(`${key}=${typeof value === 'string' ? value : JSON.stringify(withoutStack(value))}`);
  if (id !== undefined) words.push(`request_id=${String(id)}`);
  return words.filter((word) => word !== '').join(' ');
}

export function logLineAsJson({ time, title, fields }: LogLine): string {
  return JSON.stringify({ ...fields, time, function: title });
}

function withoutStack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutStack);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'stack')
      .map(([key, one]) => [key, withoutStack(one)]),
  );
}

export interface WantedLines {
  /** The caller's id, or the gateway's. */
  readonly requestId?: string | undefined;
  /** A function's title, or `gateway`. */
  readonly title?: string | undefined;
  readonly since?: string | undefined;
}

type Folder = Pick<DataFolder, 'functionLog' | 'metricLog' | 'requestLog'>;

const CHUNK_BYTES = 1024 * 1024;
const POLL_MS = 200;
/** Names under which lines carry ids of a request. */
const ID_FIELDS = ['request_id', 'gateway_request_id'];

/** Yields a stack's wanted log lines in order of time, metrics included; `follow` continues until `signal`. */
export async function* readLogs(
  folder: Folder,
  wanted: WantedLines,
  follow?: AbortSignal,
): AsyncGenerator<LogLine, void, undefined> {
  const paths = [folder.requestLog, folder.functionLog, ...(wanted.requestId === undefined ? [] : [folder.metricLog])];
  const ids = new Set(wanted.requestId === undefined ? [] : [wanted.requestId]);
  const isWanted = ({ time, title, text }: LogLine): boolean =>
    (wanted.since === undefined || time >= wanted.since) &&
    (wanted.title === undefined || title === wanted.title) &&
    (wanted.requestId === undefined || [...ids].some((id) => hasWord(text, id)));

  const files = paths.map((path) => ({ path, at: 0, rest: '' }));
  const before = (): readonly LogLine[] => paths.flatMap((path) => linesOf({ path: setAside(path), at: 0, rest: '' }));
  let lines = [...before(), ...files.flatMap(linesOf)];
  for (;;) {
    for (const line of lines) noteIds(line, ids);
    yield* lines.filter(isWanted).sort((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0));
    if (follow === undefined || follow.aborted) return;
    await sleep(POLL_MS, undefined, { signal: follow }).catch(() => undefined);
    lines = files.flatMap(linesOf);
  }
}

interface FilePosition {
  readonly path: string;
  at: number;
  rest: string;
}

/** Reads what was added to a file since the last read. */
function linesOf(position: FilePosition): readonly LogLine[] {
  if (!existsSync(position.path)) return [];
  // The file was rotated.
  if (statSync(position.path).size < position.at) Object.assign(position, { at: 0, rest: '' });
  const file = openSync(position.path, 'r');
  const decoder = new TextDecoder();
  const lines: LogLine[] = [];
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let bytes = read(file, chunk, position); bytes > 0; bytes = read(file, chunk, position)) {
      const texts = `${position.rest}${decoder.decode(chunk.subarray(0, bytes), { stream: true })}`.split('\n');
      position.rest = texts.pop() ?? '';
      lines.push(...texts.flatMap((text) => parseLogLine(text) ?? []));
    }
  } finally {
    closeSync(file);
  }
  return lines;
}

function read(file: number, chunk: Buffer, position: FilePosition): number {
  const bytes = readSync(file, chunk, 0, chunk.length, position.at);
  position.at += bytes;
  return bytes;
}

/** A request with its own id has another one at the gateway. */
function noteIds({ fields }: LogLine, ids: Set<string>): void {
  if (ids.size === 0) return;
  const own = ID_FIELDS.flatMap((name) => (typeof fields[name] === 'string' ? [fields[name]] : []));
  if (own.some((id) => ids.has(id))) for (const id of own) ids.add(id);
}

/** True if the text has the id as a whole word. */
function hasWord(text: string, id: string): boolean {
  return (
    text.includes(id) && new RegExp(String.raw`(?<![\w.:/+=@-])${RegExp.escape(id)}(?![\w.:/+=@-])`, 'u').test(text)
  );
}
