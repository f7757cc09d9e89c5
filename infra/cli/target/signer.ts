import type { ClientOptions } from '../../../shared/client/options.ts';
import { badUsage, CommandError } from '../errors.ts';
import { isLoopback, type Target } from './choose-target.ts';

type Sign = NonNullable<ClientOptions['sign']>;

/** Signs as the target says; undefined where it says not to. What signing needs is loaded only then. */
export async function signerOf({ sign, region, awsProfile, url }: Target): Promise<Sign | undefined> {
  if (!sign) return undefined;
  if (new URL(url).protocol !== 'https:' && !isLoopback(url))
    throw badUsage(
      'url',
      'https, where requests are signed',
      url,
      'Say https, or --no-sign: credentials of a session go with each request',
    );
  if (region === undefined)
    throw badUsage(
      'region',
      `the region of ${url}, to sign for`,
      'none',
      'Say it: --region, AWS_REGION, or `region` of the profile',
    );
  const [{ requestSigner }, { defaultProvider }] = await Promise.all([
    import('../../../shared/client/sign-request.ts'),
    import('@aws-sdk/credential-provider-node'),
  ]);
  const credentials = defaultProvider(awsProfile === undefined ? {} : { profile: awsProfile });
  const signed = requestSigner(region, credentials);
  return async (request) => {
    // What fails to be signed for want of credentials is told from what fails otherwise.
    await credentials().catch((cause: unknown) => {
      throw new CommandError(`No credentials of AWS to sign with: ${reason(cause)}`, {
        ending: 'denied',
        cure: 'Log in, or say which: AWS_PROFILE, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or `aws_profile` of the profile',
        cause,
      });
    });
    return signed(request);
  };
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
