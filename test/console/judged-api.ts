import { readFileSync, globSync } from 'node:fs';
import { createServer, request as forward, type Server } from 'node:http';
import { join } from 'node:path';
import { accessKeyIn, accessKeyOf } from '../../infra/local/iam/access-key.ts';
import { readRights } from '../../infra/local/iam/rights.ts';
import type { WrittenStatement } from '../../infra/local/iam/statement.ts';
import { listen } from '../support/listen.ts';

export interface JudgedApi {
  readonly url: string;
  /** The access key of who has this policy alone: `readers`. */
  readonly keyOf: (policy: string) => string;
  close(): void;
}

/**
 * A stack's API behind what API Gateway and IAM do: a request that is not signed, or whose route no policy of who signed
 * it allows, is answered 403 before it gets there. The policies are those of the synthesized template.
 */
export async function judgedApi(stackUrl: string, assembly: string): Promise<JudgedApi> {
  const rights = readRights(
    Object.fromEntries(policiesIn(assembly).map(([name, statements]) => [accessKeyOf(name), { name, statements }])),
  );
  const server: Server = createServer((request, response) => {
    const { method = 'GET', url: path = '/', headers } = request;
    const key = accessKeyIn(headers.authorization);
    const call = {
      action: 'execute-api:Invoke',
      resource: `arn:aws:execute-api:eu-west-1:000000000000:api/$default/${method}${path.split('?')[0]}`,
    };
    const why = key === undefined || !rights.knows(key) ? 'Missing Authentication Token' : rights.whyRefused(key, call);
    if (why !== undefined) {
      request.resume();
      response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify({ message: why }));
      return;
    }
    const { hostname, port } = new URL(stackUrl);
    const sent = forward({ hostname, port, method, path, headers: { ...headers, host: `${hostname}:${port}` } });
    sent.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  });
  return {
    url: await listen(server),
    keyOf: accessKeyOf,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface ManagedPolicyResource {
  readonly Type: string;
  readonly Properties: {
    readonly Description: string;
    readonly PolicyDocument: { readonly Statement: readonly WrittenStatement[] };
  };
}

/** What each is for says its description. */
const NAMES: Readonly<Record<string, string>> = {
  'reads every datastore': 'readers',
  'reads and writes datastore trips': 'clients-trips',
  'moves shards between groups': 'movers',
  'erases cells and forgets subjects': 'erasers',
  'operates the store': 'operators',
};

function policiesIn(assembly: string): readonly (readonly [name: string, statements: readonly WrittenStatement[]])[] {
  const templates = globSync('**/*.template.json', { cwd: assembly }).map(
    (path) =>
      JSON.parse(readFileSync(join(assembly, path), 'utf8')) as { Resources?: Record<string, ManagedPolicyResource> },
  );
  return templates
    .flatMap(({ Resources = {} }) => Object.values(Resources))
    .filter(({ Type }) => Type === 'AWS::IAM::ManagedPolicy')
    .flatMap(({ Properties: { Description, PolicyDocument } }) => {
      const name = NAMES[Description.replace(/^.*?: /u, '')];
      return name === undefined ? [] : [[name, PolicyDocument.Statement.map(withArns)] as const];
    });
}

/** What only AWS knows of an ARN, such as the id of the API, fits anything here. */
function withArns(statement: WrittenStatement): WrittenStatement {
  const text = (value: unknown): string => {
    if (typeof value === 'string') return value;
    const [, parts] = (Object(value) as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join'] ?? [];
    return parts ? parts.map(text).join('') : '*';
  };
  const resources: readonly unknown[] = Array.isArray(statement.Resource) ? statement.Resource : [statement.Resource];
  return { ...statement, Resource: resources.map(text) };
}
