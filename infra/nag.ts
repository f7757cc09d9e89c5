import { Validations, type App } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

/**
 * From now on the synthesis fails where the app breaks a rule of AwsSolutions, and nobody says why: see
 * `stacks/evidence.ts`.
 */
export function checkAwsSolutions(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
