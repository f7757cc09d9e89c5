import { requestSigner, type Sign } from '../../../shared/client/sign-request.ts';
import { awsLogin } from './aws-login.ts';

/** Signs requests to the stack's HTTP API as its functions do. */
export function localSigner(): Sign {
  const { region, credentials } = awsLogin();
  return requestSigner(region, credentials);
}
