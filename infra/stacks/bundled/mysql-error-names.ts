/**
 * Replaces `mysql2/lib/constants/errors.js`, 145 KB of names, in the bundles. The store reads an error's number; its
 * code only has to begin with `ER_`. The numbers are those of a read-only server, which `mysql2` looks up by name.
 */
const NUMBERS: Readonly<Record<string, number>> = {
  ER_OPTION_PREVENTS_STATEMENT: 1290,
  ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: 1792,
  ER_READ_ONLY_MODE: 1836,
};

export default new Proxy(NUMBERS, { get: (numbers, name: string) => numbers[name] ?? `ER_${name}` });
