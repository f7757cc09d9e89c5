import { ENVIRONMENT_VARIABLES } from '../../shared/environment.ts';

/** What the environment of a trigger's function says. */
export interface ConsumerConfig {
  /** `local`, `dev`, `prod`. */
  readonly environment: string;
  readonly topologyTable: string;
  readonly stateTable: string;
  /** Where the HTTP API is. */
  readonly apiUrl: string;
  /** The datastore whose cells call the function. */
  readonly datastore: string;
  /** Where the API is, for the signature. */
  readonly region: string;
}

/**
 * Reads the environment. Throws an Error that names the variable at fault.
 *
 * @param variables @default the environment of this process
 */
export function readConsumerConfig(variables: Readonly<Record<string, string | undefined>> = process.env): ConsumerConfig {
  const required = (name: string): string => {
    const value = variables[name];
    if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set`);
    return value;
  };
  return {
    environment: required(ENVIRONMENT_VARIABLES.environment),
    topologyTable: required(ENVIRONMENT_VARIABLES.topologyTable),
    stateTable: required(ENVIRONMENT_VARIABLES.stateTable),
    apiUrl: required(ENVIRONMENT_VARIABLES.apiUrl),
    datastore: required(ENVIRONMENT_VARIABLES.datastore),
    region: required('AWS_REGION'),
  };
}
