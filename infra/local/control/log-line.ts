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
