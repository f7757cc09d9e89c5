import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';

/** What every function runs on. */
export const MACHINE = { runtime: Runtime.NODEJS_24_X, architecture: Architecture.ARM_64 };
