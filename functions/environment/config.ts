import { ACCESSES, DATABASE_AUTHS, ENVIRONMENT_VARIABLES, type Access, type DatabaseAuth } from '../../shared/environment.ts';
import { MAX_TAILERS } from '../../shared/triggers/send/tailer-count.ts';
import { DATABASE_USERS, type DatabaseUser } from '../../shared/topology/database-users.ts';

/** What the environment of a function says. Read here and nowhere else. */
export interface Config {
  /** `local`, `dev`, `prod`. */
  readonly environment: string;
  readonly topologyTable: string;
  readonly stateTable: string;
  /** On how many secondaries a write is buffered before its primary is tried. */
  readonly bufferCopies: number;
  readonly access: Access;
  /** What the function may do in MySQL. */
  readonly databaseUser: DatabaseUser;
  readonly databaseAuth: DatabaseAuth;
  /** Connections to each endpoint of each group, at most: 1 to 99. */
  readonly connections: number;
}

/**
 * Reads the environment. Throws an Error that names the variable at fault.
 *
 * @param variables @default the environment of this process
 */
export function readConfig(variables: Readonly<Record<string, string | undefined>> = process.env): Config {
  const required = (name: string): string => {
    const value = variables[name];
    if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set`);
    return value;
  };
  const oneOf = <T extends string>(known: readonly T[], name: string): T => {
    const value = required(name);
    const found = known.find((one) => one === value);
    if (found === undefined) throw new Error(`The environment variable ${name}: wanted one of ${known.join(', ')}, got ${JSON.stringify(value)}`);
    return found;
  };
  return {
    environment: required(ENVIRONMENT_VARIABLES.environment),
    topologyTable: required(ENVIRONMENT_VARIABLES.topologyTable),
    stateTable: required(ENVIRONMENT_VARIABLES.stateTable),
    bufferCopies: readCopies(required(ENVIRONMENT_VARIABLES.bufferCopies)),
    access: oneOf(ACCESSES, ENVIRONMENT_VARIABLES.access),
    databaseUser: oneOf(DATABASE_USERS, ENVIRONMENT_VARIABLES.databaseUser),
    databaseAuth: oneOf(DATABASE_AUTHS, ENVIRONMENT_VARIABLES.databaseAuth),
    connections: readConnections(required(ENVIRONMENT_VARIABLES.connections)),
  };
}

/**
 * How many workers of `tail-shards` the environment wishes for. Throws an Error that names the variable at fault.
 *
 * @param variables @default the environment of this process
 */
export function readTailers(variables: Readonly<Record<string, string | undefined>> = process.env): number {
  const value = variables[ENVIRONMENT_VARIABLES.tailers] ?? '';
  if (!/^\d{1,2}$/.test(value) || Number(value) > MAX_TAILERS) {
    throw new Error(`The environment variable ${ENVIRONMENT_VARIABLES.tailers}: wanted a whole number from 0 to ${MAX_TAILERS}, got ${JSON.stringify(value)}`);
  }
  return Number(value);
}

function readCopies(value: string): number {
  if (!/^\d{1,3}$/.test(value)) {
    throw new Error(`The environment variable ${ENVIRONMENT_VARIABLES.bufferCopies}: wanted a whole number from 0 to 999, got ${JSON.stringify(value)}`);
  }
  return Number(value);
}

function readConnections(value: string): number {
  if (!/^[1-9]\d?$/.test(value)) {
    throw new Error(`The environment variable ${ENVIRONMENT_VARIABLES.connections}: wanted a whole number from 1 to 99, got ${JSON.stringify(value)}`);
  }
  return Number(value);
}
