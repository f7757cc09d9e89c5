import { loginOfFunction, loginVariables } from '../login/aws-login.ts';

export interface FunctionDefinition {
  readonly name: string;
  /** The id in the CDK app: `write-cells`, `migration/onEvent`. */
  readonly title: string;
  readonly arn: string;
  readonly module: string;
  readonly exportName: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The role whose policies apply. */
  readonly roleArn: string;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly nodeFlags?: readonly string[];
}

/** Instances are worker threads of this process, or processes of their own. */
export type FunctionMode = 'threads' | 'process';

/** Returns what Lambda sets, the template's variables, and the services' addresses. */
export function instanceEnvironment(
  definition: FunctionDefinition,
  services: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    LANG: 'en_US.UTF-8',
    TZ: 'UTC',
    ...loginVariables(loginOfFunction(definition.name)),
    // Hides the owner's setup for the real cloud.
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
