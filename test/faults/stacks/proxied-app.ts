import type { App } from 'aws-cdk-lib';
import { buildApp as buildDeployedApp } from '../../../infra/app.ts';

/** The local environment with the proxies and token logins of `prod`. */
export function buildApp(app: App) {
  return buildDeployedApp(app, { proxy: true, databaseAuth: 'iam' });
}
