import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { callsOfSecretsManager } from '../iam/calls-of.ts';
import { guardServer, refuseAsJson } from '../iam/guard-server.ts';
import type { RightsByKey } from '../iam/rights.ts';
import { closeAtOnce, listen, refuseOthers, refuseOtherUsers } from '../server.ts';

export type SecretsManager = Awaited<ReturnType<typeof startSecretsManager>>;

/** Starts a Secrets Manager on the loopback interface that knows GetSecretValue alone. */
export async function startSecretsManager(onRefused: (why: string) => void = () => {}) {
  let secrets: ReadonlyMap<string, string> = new Map();
  const server = createServer(async (request, response) => {
    // The caller may disconnect while it sends.
    const body = await text(request).catch(() => '');
    const operation = String(request.headers['x-amz-target']).replace('secretsmanager.', '');
    if (operation !== 'GetSecretValue')
      return fail(response, 'InvalidRequestException', `${operation} is not known to the local Secrets Manager`);
    const id = secretId(body);
    const [arn, secret] = [...secrets].find(([known]) => known === id || known.endsWith(`:secret:${id}`)) ?? [];
    if (arn === undefined || secret === undefined)
      return fail(response, 'ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    return answer(response, 200, {
      ARN: arn,
      Name: arn.slice(arn.lastIndexOf(':') + 1),
      SecretString: secret,
      VersionId: createHash('sha256').update(secret).digest('hex').slice(0, 32),
      VersionStages: ['AWSCURRENT'],
    });
  });
  const guard = guardServer(server, { callsOf: callsOfSecretsManager, refuse: refuseAsJson, onRefused });
  refuseOthers(server);
  refuseOtherUsers(server);
  return {
    url: `http://127.0.0.1:${await listen(server, 0)}`,
    setRights: async (rights: RightsByKey) => guard.setRights(rights),
    /** Sets the secrets by ARN; callers may use the name, its last part. */
    setSecrets(next: ReadonlyMap<string, string>): void {
      secrets = next;
    },
    close: () => closeAtOnce(server),
  };
}

function secretId(body: string): string {
  try {
    return String(Object(JSON.parse(body)).SecretId);
  } catch {
    return '';
  }
}

function fail(response: ServerResponse, type: string, message: string): void {
  answer(response, 400, { __type: type, message });
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(body));
}
