import { parseTime } from '../../../../shared/time.ts';

/** How a column writes times. */
export interface TimeSpelling {
  /** The IANA zone of times without one. */
  readonly zone?: string | undefined;
  /** Letters as in Unicode's date patterns. @default RFC 3339, or with a zone SQL's `2026-01-31 08:00:00.123456` */
  readonly format?: string | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const LETTERS: Readonly<Record<string, string>> = {
  yyyy: '(?<year>\\d{4})',
  MMM: `(?<month>${MONTHS.join('|')})`,
  MM: '(?<month>\\d\\d)',
  M: '(?<month>\\d\\d?)',
  dd: '(?<day>\\d\\d)',
  d: '(?<day>\\d\\d?)',
  HH: '(?<hour>\\d\\d)',
  H: '(?<hour>\\d\\d?)',
  hh: '(?<hour12>\\d\\d)',
  h: '(?<hour12>\\d\\d?)',
  a: '(?<half>am|pm)',
  mm: '(?<minute>\\d\\d)',
  ss: '(?<second>\\d\\d)',
  S: '(?<fraction>\\d{1,9})',
  X: '(?<offset>z|[+-]\\d\\d(?::?\\d\\d)?)',
};
const SQL =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)[Tt ](?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:\.(?<fraction>\d{1,9}))?)?$/u;

/** Returns a format as a pattern. Throws a RangeError that says what is wrong. */
function patternOf(format: string): RegExp {
  const parts = format.match(/'[^']*'|([A-Za-z])\1*|[^A-Za-z]/gu) ?? [];
  const pattern = parts.map((part): string => {
    const letters = part.startsWith('S') ? 'S' : part;
    const field = LETTERS[letters];
    if (field !== undefined) return field;
    if (/^[A-Za-z]/u.test(part))
      throw new RangeError(`format: wanted letters of ${Object.keys(LETTERS).join(', ')} (others in ''), got ${part}`);
    return part.replace(/^'(.*)'$/u, '$1').replace(/[$()*+./?[\\\]^{|}]/gu, '\\$&');
  });
  const groups = pattern.flatMap((part) => /^\(\?<(\w+)>/u.exec(part)?.[1] ?? []);
  const has = (group: string): boolean => groups.includes(group);
  if (!has('year') || !has('month') || !has('day') || new Set(groups).size < groups.length)
    throw new RangeError('format: wanted a year, a month and a day, and each part once');
  if (has('hour12') !== has('half')) throw new RangeError('format: wanted h with a, or H without');
  return new RegExp(`^${pattern.join('')}$`, 'iu');
}

/**
 * Returns a function that returns a time as RFC 3339, and undefined for what is none: also local times that a change of
 * the clocks skips or repeats. Throws a RangeError that says what is wrong with the spelling.
 */
export function timeReader({ zone, format }: TimeSpelling): (text: string) => string | undefined {
  const asIs = (text: string): string | undefined => (secondsOf(text) === undefined ? undefined : text);
  if (zone === undefined && format === undefined) return asIs;
  const pattern = format === undefined ? SQL : patternOf(format);
  if (zone === undefined && !pattern.source.includes('<offset>'))
    throw new RangeError('format: wanted X in it, or a zone beside it');
  const toUtc = zone === undefined ? secondsOf : inZone(zone);
  return (text) => {
    const { groups } = pattern.exec(text) ?? {};
    if (!groups) return format === undefined ? asIs(text) : undefined;
    const { year, month = '', day = '', minute = '00', second = '00', fraction, offset } = groups;
    const monthNumber = MONTHS.indexOf(month.toLowerCase()) + 1 || month;
    const local = `${year}-${two(monthNumber)}-${two(day)}T${two(hourOf(groups))}:${minute}:${second}`;
    const zoned = offset?.replace(/^([+-]\d\d):?(\d\d)?$/u, (_, hours, minutes = '00') => `${hours}:${minutes}`);
    const utc = zoned === undefined ? toUtc(local) : secondsOf(`${local}${zoned}`);
    // The decimals of a leap second are not its fraction.
    return utc === undefined
      ? undefined
      : `${utc}${fraction === undefined || utc.includes('.') ? '' : `.${fraction}`}Z`;
  };
}

function two(value: string | number): string {
  return String(value).padStart(2, '0');
}

function hourOf({ hour = '00', hour12, half }: Readonly<Record<string, string | undefined>>): string | number {
  if (hour12 === undefined) return hour;
  const isHour = Number(hour12) >= 1 && Number(hour12) <= 12;
  return isHour ? (Number(hour12) % 12) + (half?.toLowerCase() === 'pm' ? 12 : 0) : 24;
}

/** Returns `2026-01-31T08:00:00` in UTC, if it is a time as in RFC 3339. A leap second is `…:59.999999`. */
function secondsOf(text: string): string | undefined {
  try {
    return parseTime(text, 'time').replace(/(?:\.0+)?Z$/u, '');
  } catch {
    return undefined;
  }
}

/** Returns a function that returns a local time of a zone in UTC, if the zone has it once. */
function inZone(timeZone: string): (local: string) => string | undefined {
  const numeric = 'numeric';
  const parts = {
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  } as const;
  const clock = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...parts });
  const offsetAt = (utc: number): number => {
    const [month = 0, day, year = 0, ...time] = clock.format(utc).match(/\d+/gu)?.map(Number) ?? [];
    return Date.UTC(year, month - 1, day, ...time) - utc;
  };
  return (local) => {
    const isLeap = local.endsWith(':60');
    // JavaScript has no leap seconds.
    const shownText = secondsOf(`${isLeap ? local.replace(/60$/u, '59') : local}Z`);
    if (shownText === undefined) return undefined;
    const shown = Date.parse(`${shownText}Z`);
    const offsets = new Set([offsetAt(shown - DAY_MS), offsetAt(shown + DAY_MS)]);
    const times = [...offsets].map((offset) => shown - offset);
    const real = times.length === 1 ? times : times.filter((utc) => offsetAt(utc) === shown - utc);
    const utc = new Date(real[0] ?? 0).toISOString();
    return real.length === 1 ? secondsOf(isLeap ? utc.replace(/\d\d\.000Z$/u, '60Z') : utc) : undefined;
  };
}
