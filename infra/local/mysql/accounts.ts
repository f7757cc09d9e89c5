import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InstalledEngine } from '../../setup/engine.mjs';

/** Has all rights, except writes on a reader. */
export const APPLICATION_USER = 'schemaless';
/** Reads the writer's log. */
export const REPLICATION_USER = 'schemaless_replication';
/** Assigns roles. */
export const OPERATOR_USER = 'schemaless_operator';

const LOOPBACK = '127.%';

const OWNERS = ['application', 'replication', 'operator'] as const;

export type Passwords = Readonly<Record<(typeof OWNERS)[number], string>>;

/** Returns the data folder's random passwords, kept in a file for its owner alone. */
export function passwordsOf(folder: string): Passwords {
  const file = join(folder, 'passwords.json');
  if (!existsSync(file)) {
    const made = Object.fromEntries(OWNERS.map((owner) => [owner, randomPassword()]));
    writeFileSync(file, `${JSON.stringify(made, undefined, 2)}\n`, { mode: 0o600 });
  }
  const read: Partial<Record<string, unknown>> = JSON.parse(readFileSync(file, 'utf8'));
  if (OWNERS.some((owner) => typeof read[owner] !== 'string'))
    throw new Error(
      `${file}: wanted the passwords application, replication and operator; delete the file to have new ones made`,
    );
  return read as Passwords;
}

/** Returns the SQL that makes the accounts on this node alone, outside its log. */
export function accountsSql(engine: InstalledEngine, passwords: Passwords): string {
  const statements = [
    'SET SESSION sql_log_bin = 0',
    ...account(APPLICATION_USER, passwords.application, 'ALL PRIVILEGES'),
    ...account(REPLICATION_USER, passwords.replication, 'REPLICATION SLAVE'),
    ...account(OPERATOR_USER, passwords.operator, 'ALL PRIVILEGES'),
    ...(engine.kind === 'mysql'
      ? ["ALTER USER 'root'@'localhost' ACCOUNT LOCK", 'SET GLOBAL super_read_only = ON']
      : mariaDbOnly(engine.version)),
  ];
  return statements.map((statement) => `${statement};\n`).join('');
}

function account(user: string, password: string, rights: string): readonly string[] {
  const name = `'${user}'@'${LOOPBACK}'`;
  return [
    `CREATE USER IF NOT EXISTS ${name} IDENTIFIED BY '${password}'`,
    // The password file may have been deleted since.
    `ALTER USER ${name} IDENTIFIED BY '${password}'`,
    `GRANT ${rights} ON *.* TO ${name}${rights === 'ALL PRIVILEGES' ? ' WITH GRANT OPTION' : ''}`,
  ];
}

/** MariaDB has no `super_read_only`: the application loses the right to write to a reader. */
function mariaDbOnly(version: string): readonly string[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isSeparate = major > 10 || (major === 10 && minor >= 11);
  return [
    `REVOKE ${isSeparate ? 'READ_ONLY ADMIN' : 'READ_ONLY ADMIN, SUPER'} ON *.* FROM '${APPLICATION_USER}'@'${LOOPBACK}'`,
    "DELETE FROM mysql.global_priv WHERE User IN ('', 'root')",
    'FLUSH PRIVILEGES',
  ];
}

/** Needs no quoting in SQL, URLs or shells. */
function randomPassword(): string {
  return randomBytes(24).toString('base64url');
}
