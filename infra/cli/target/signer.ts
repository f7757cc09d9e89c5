import type { ClientOptions } from '../../../shared/client/options.ts';
import { messageOf } from '../../local/message-of.ts';
import { badUsage, CommandError } from '../errors.ts';
import { isLoopback, type Target } from './choose-target.ts';

type Sign = NonNullable<ClientOptions['sign']>;

/** Returns the signer of a target; undefined if it is unsigned. Loads the signing code only if needed. */
export async function signerOf({ sign, region, awsProfile, url }: Target): Promise<Sign | undefined> {
  if (!sign) return undefined;
  if (new URL(url).protocol !== 'https:' && !isLoopback(url))
    throw badUsage(
      'url',
      'https for signed requests',
      url,
      'Use https, or --no-sign: each request contains credentials of a session',
    );
  if (region === undefined)
    throw badUsage(
      'region',
      `the region of ${url}, to sign for`,
      'none',
      'Set it: --region, AWS_REGION, or `region` of the profile',
    );
  const [{ requestSigner }, { defaultProvider }] = await Promise.all([
    import('../../../shared/client/sign-request.ts'),
    import('@aws-sdk/credential-provider-node'),
  ]);
  const credentials = defaultProvider(awsProfile === undefined ? {} : { profile: awsProfile });
  const signed = requestSigner(region, credentials);
  return async (request) => {
    // Missing credentials have a separate error.
    await credentials().catch((cause: unknown) => {
      throw new CommandError(`No credentials of AWS to sign with: ${messageOf(cause)}`, {
        ending: 'denied',
        fix: 'Log in, or set them: AWS_PROFILE, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or `aws_profile` of the profile',
        cause,
      });
    });
    return signed(request);
  };
}
