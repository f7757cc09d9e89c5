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

type CanaryMinutes = NonNullable<StoreEnvironment['canaryMinutes']>;

const CONFIGS: Readonly<Record<CanaryMinutes, ILambdaDeploymentConfig>> = {
  10: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
  15: LambdaDeploymentConfig.CANARY_10PERCENT_15MINUTES,
  30: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
};

/** Context key: `off` for a deployment that fixes what the alarm reports, and would be rolled back. */
const SWITCH = 'schemaless:canary';

/** Functions behind the API with an alias each: a tenth of the calls first, rolled back by an alarm. */
export class Canary extends Construct {
  readonly functions: StoreApiProps['functions'];
  private readonly aliases: ReadonlyMap<string, Alias>;

  constructor(scope: Construct, id: string, functions: AnsweringFunctions) {
    super(scope, id);
    this.aliases = new Map(
      Object.entries(functions).map(([name, called]) => [
        name,
        // exactOptionalPropertyTypes conflicts with the library's types.
        new Alias(this, name, { aliasName: 'live', version: called.currentVersion as IVersion }),
      ]),
    );
    this.functions = Object.fromEntries(this.aliases) as unknown as StoreApiProps['functions'];
  }

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
        'CodeDeploy needs it to move an alias and to read alarms, and AWS keeps it up to date',
      );
    }
  }

  /** Parts that wait for the migration. */
  get parts(): readonly IConstruct[] {
    return [...this.aliases.values()];
  }
}
