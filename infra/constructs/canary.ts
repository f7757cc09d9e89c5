import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import {
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
  type ILambdaDeploymentConfig,
} from 'aws-cdk-lib/aws-codedeploy';
import { Alias, type IVersion } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IConstruct } from 'constructs';
import { acknowledge } from './evidence.ts';
import type { StoreApiProps } from './store-api.ts';
import type { StoreEnvironment } from './store-environment.ts';
import type { AnsweringFunctions } from './store-functions.ts';

export type CanaryMinutes = NonNullable<StoreEnvironment['canaryMinutes']>;

/** A tenth of the calls for so long, then all. */
const CONFIGS: Readonly<Record<CanaryMinutes, ILambdaDeploymentConfig>> = {
  10: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
  15: LambdaDeploymentConfig.CANARY_10PERCENT_15MINUTES,
  30: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
};

/** Key of the context: `off` for a deployment that mends what the alarm sounds for, and would be taken back by it. */
const SWITCH = 'schemaless:canary';

/**
 * Functions behind the API, each called by an alias that a deployment leads over to its new version: a tenth of the
 * calls first, and back, with the whole deployment, when one of the alarms sounds meanwhile.
 */
export class Canary extends Construct {
  /** What is to be called in place of each function. */
  readonly functions: StoreApiProps['functions'];
  private readonly aliases: ReadonlyMap<string, Alias>;

  constructor(scope: Construct, id: string, functions: AnsweringFunctions) {
    super(scope, id);
    this.aliases = new Map(
      Object.entries(functions).map(([name, called]) => [
        name,
        // The compiler's exactOptionalPropertyTypes finds the library's classes at odds with their own interfaces.
        new Alias(this, name, { aliasName: 'live', version: called.currentVersion as IVersion }),
      ]),
    );
    this.functions = Object.fromEntries(this.aliases) as unknown as StoreApiProps['functions'];
  }

  /** @param alarms that take a deployment back */
  leadOver(minutes: CanaryMinutes, alarms: readonly Alarm[]): void {
    const isOff = this.node.tryGetContext(SWITCH) === 'off';
    const application = new LambdaApplication(this, 'application');
    for (const [name, alias] of this.aliases) {
      const group = new LambdaDeploymentGroup(this, `${name}-group`, {
        application,
        alias,
        deploymentConfig: isOff ? LambdaDeploymentConfig.ALL_AT_ONCE : CONFIGS[minutes],
        alarms: [...alarms],
        ignoreAlarmConfiguration: isOff,
      });
      acknowledge(
        group,
        'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
        'What CodeDeploy itself needs to move an alias and to look at alarms, kept up to date by AWS',
      );
    }
  }

  /** What is to wait where the calls have to wait. */
  get parts(): readonly IConstruct[] {
    return [...this.aliases.values()];
  }
}
