import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createConnection } from 'mysql2/promise';
import { encodeBody } from '../../../shared/body/codec.ts';
import { decodedLog } from '../../support/decoded-log.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { check, grouped, sumOf, type Check } from '../fault-run.ts';
import { countOf, markedBody, MARKS } from './marks.ts';

/** What logs tell: marks of bodies, sealed or not, and names of subjects; and how many refusals of a server they have. */
interface Logged {
  readonly found: number;
  readonly refusals: number;
}

/** ER_LOCK_WAIT_TIMEOUT: of the locks that disturb the writes. */
const REFUSED = /\berrno\W{1,5}1205\b/u;

export function loggedIn(line: string, subjects: ReadonlySet<string>): Logged {
  const told = decodedLog(line);
  const marks = Object.values(MARKS).map((mark) => countOf(Buffer.from(told), mark));
  const names = told.match(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gu)?.filter((name) => subjects.has(name)) ?? [];
  return { found: sumOf(marks) + names.length, refusals: Number(REFUSED.test(line)) };
}

export async function searchLogs(files: readonly string[], subjects: ReadonlySet<string>): Promise<Logged> {
  let [found, refusals] = [0, 0];
  for (const file of files)
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const logged = loggedIn(line, subjects);
      found += logged.found;
      refusals += logged.refusals;
    }
  return { found, refusals };
}

/** The line with the driver's own error: a server of this stack refuses a body of a subject. A control. */
export async function lineOfDriver(groups: readonly GroupAccess[], subject: string): Promise<string> {
  const [group] = groups;
  if (!group) throw new Error('wanted a group');
  const connection = await createConnection({ ...group.writer, user: group.user, password: group.password });
  try {
    await connection.query('DO (SELECT 1 FROM schemaless.nowhere WHERE body IN (?, ?))', [
      encodeBody(markedBody('erased')),
      Buffer.from(subject),
    ]);
  } catch (error) {
    return JSON.stringify({ event: { kind: 'primary_failed', error: { ...Object(error) } } });
  } finally {
    connection.destroy();
  }
  throw new Error('wanted a server that refuses a statement');
}

export function nothingLogged(real: Logged, driver: Logged): Check {
  return check(
    {
      what: "bodies and names of subjects in the store's logs, decoded, and the refused writes that they tell; control: the driver's error kept",
      bar: '0, of at least 1',
      figure: ({ found, refusals }: Logged) => `${grouped(found)}, of ${grouped(refusals)}`,
      holds: ({ found, refusals }) => found === 0 && refusals > 0,
      fails: ({ found }) => found > 1,
    },
    real,
    driver,
  );
}
