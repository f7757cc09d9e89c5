import { loginOfFunction, loginVariables } from '../login/aws-login.ts';

/** A function of the template, as it is run here. */
export interface FunctionDefinition {
  readonly name: string;
  /** What people know it by: `write-cells`, `migration/onEvent`. */
  readonly title: string;
  readonly arn: string;
  /** Path of the bundle. */
  readonly module: string;
  readonly exportName: string;
  /** From the template. */
  readonly environment: Readonly<Record<string, string>>;
  /** Of the role whose policies say what it may do. */
  readonly roleArn: string;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  /** Further flags of Node for its processes. */
  readonly nodeFlags?: readonly string[];
}

/** Where instances run: worker threads of this process, or processes that can be killed. */
export type FunctionMode = 'threads' | 'process';

/** The environment of an instance: what Lambda sets, what the template says, where the services of AWS are. */
export function instanceEnvironment(
  definition: FunctionDefinition,
  services: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    LANG: 'en_US.UTF-8',
    TZ: 'UTC',
    ...loginVariables(loginOfFunction(definition.name)),
    // What the machine's owner has set up for the real cloud must not be found.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMb),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    ...services,
    ...definition.environment,
  };
}
