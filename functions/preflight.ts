import type { CdkCustomResourceEvent, CdkCustomResourceResponse, Context } from 'aws-lambda';
import { AwsBySdk } from '../shared/preflight/aws-by-sdk.ts';
import type { Finding } from '../shared/preflight/check.ts';
import { type DeployedResources, judgeDeployment } from '../shared/preflight/judge-deployment.ts';
import { refusalOf } from '../shared/preflight/refusal.ts';
import { logger } from './environment/log.ts';

/** Constant: CloudFormation must never see a replacement. */
const PHYSICAL_ID = 'schemaless-preflight';
/** Before the time limit: reports the result. */
const TIME_TO_END_MS = 10_000;

/** Refuses a deployment that its account would not accept, with all reasons. Other failures block nothing. */
export async function onEvent(event: CdkCustomResourceEvent, lambda: Context): Promise<CdkCustomResourceResponse> {
  if (event.RequestType !== 'Delete') {
    const findings = await findingsOf(event, lambda);
    for (const finding of findings)
      if (finding.verdict === 'unknown') logger.warn('preflight check is unknown', { ...finding });
    const failures = findings.filter(({ verdict }) => verdict === 'FAIL');
    logger.info('preflight finished', { made: findings.map(({ check }) => check), failures });
    if (failures.length > 0) throw refused(failures);
  }
  return { PhysicalResourceId: PHYSICAL_ID };
}

async function findingsOf(
  event: Exclude<CdkCustomResourceEvent, { readonly RequestType: 'Delete' }>,
  lambda: Context,
): Promise<readonly Finding[]> {
  const stack = event.StackId;
  try {
    return await judgeDeployment(
      {
        stack,
        wanted: needsIn(event.ResourceProperties),
        before: event.RequestType === 'Update' ? needsIn(event.OldResourceProperties) : undefined,
      },
      // arn:aws:cloudformation:REGION:…
      new AwsBySdk({ region: stack.split(':')[3] ?? '' }),
      lambda.getRemainingTimeInMillis() - TIME_TO_END_MS,
    );
  } catch (error) {
    logger.warn('preflight failed', { error });
    return [];
  }
}

function needsIn({ Needs: text }: Readonly<Record<string, unknown>>): DeployedResources {
  return JSON.parse(String(text)) as DeployedResources;
}

/** Without a stack trace, which would displace reasons. */
function refused(failures: readonly Finding[]): Error {
  const error = new Error(refusalOf(failures));
  error.stack = `${error.name}: ${error.message}`;
  return error;
}
