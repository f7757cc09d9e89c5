type Obstacle = 'credentials' | 'rights' | 'throttled' | 'other';

/** A question that AWS did not answer. */
export class Unanswered extends Error {
  readonly action: string;
  readonly obstacle: Obstacle;

  constructor(action: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'Unanswered';
    this.obstacle = obstacleOf(cause);
    // The message may name another action: a question can need several.
    this.action = /not authorized to perform: (?<action>[\w-]+:\w+)/u.exec(this.message)?.groups?.['action'] ?? action;
  }
}

const RIGHTS = /^(?:AccessDenied|AccessDeniedException|UnauthorizedOperation|AuthorizationError|NotAuthorized)$/u;
/** A region that is not enabled refuses the account's tokens too. */
const CREDENTIALS =
  /^(?:CredentialsProviderError|TokenProviderError|ExpiredToken|ExpiredTokenException|InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|InvalidSignatureException|IncompleteSignature|MissingAuthenticationToken|MissingAuthenticationTokenException|AuthFailure|OptInRequired)$/u;
const THROTTLED = /Throttl|TooManyRequests|RequestLimitExceeded|SlowDown/u;

function obstacleOf(cause: unknown): Obstacle {
  const name = cause instanceof Error ? cause.name : '';
  if (RIGHTS.test(name)) return 'rights';
  if (CREDENTIALS.test(name)) return 'credentials';
  return THROTTLED.test(name) ? 'throttled' : 'other';
}
