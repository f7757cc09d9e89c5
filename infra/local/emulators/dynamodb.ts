import { mkdirSync } from 'node:fs';
import { callsOfDynamoDb } from '../iam/calls-of.ts';
import { guardServer, refuseAsJson } from '../iam/guard-server.ts';
import type { Emulator } from './emulator.ts';
import { listen, refuseOthers, closeAtOnce } from '../server.ts';
import type { Server } from 'node:http';
import dynalite from 'dynalite';
import { setTimeout as sleep } from 'node:timers/promises';
import validations, { type ExpressionNode, type ExpressionRequest } from 'dynalite/validations/index.js';

/** Longer than any client's pause: Node's 5 s make idle clients reconnect ten times a second. */
const KEEP_ALIVE_MS = 10 * 60_000;

/** Starts DynamoDB (dynalite, with fixes) on the loopback interface, with its tables in a folder. */
export async function startDynamoDb(
  folder: string,
  port: number,
  onRefused: (why: string) => void = () => {},
): Promise<Emulator> {
  mkdirSync(folder, { recursive: true });
  const server = openDynalite(folder);
  const guard = guardServer(server, { callsOf: callsOfDynamoDb, refuse: refuseAsJson, onRefused });
  refuseOthers(server);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return {
    url: `http://127.0.0.1:${await listen(server, port)}`,
    setRights: async (rights) => guard.setRights(rights),
    close: () => closeDynalite(server),
  };
}

/** Opens DynamoDB (dynalite, with fixes), not listening. Without a path, tables are in memory. */
export function openDynalite(path?: string): Server {
  fixLimits();
  return dynalite({ ...(path === undefined ? {} : { path }), createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
}

/** Enough for single reads and writes in memory. */
const MOMENT_MS = 100;

/** Ends a dynalite, requests first: its database throws an uncaught error if closed during one. */
export async function closeDynalite(server: Server): Promise<void> {
  server.removeAllListeners('request');
  server.closeAllConnections();
  await sleep(MOMENT_MS);
  await closeAtOnce(server);
}

/** DynamoDB's expression limits, which dynalite lacks ("Constraints in Amazon DynamoDB"), in its words. */
const EXPRESSION_LIMITS = { bytes: 4096, operators: 300, inOperands: 100 } as const;

const EXPRESSIONS = [
  'UpdateExpression',
  'ConditionExpression',
  'KeyConditionExpression',
  'FilterExpression',
  'ProjectionExpression',
] as const;
/** The members with dynalite's parsed expressions. */
const PARSED = {
  UpdateExpression: '_updates',
  ConditionExpression: '_condition',
  KeyConditionExpression: '_keyCondition',
  FilterExpression: '_filter',
} as const;

let isFixed = false;

/** Makes every dynalite of this process enforce the limits of expressions. */
function fixLimits(): void {
  if (isFixed) return;
  isFixed = true;
  const { validateExpressions } = validations;
  validations.validateExpressions = (request) => tooLong(request) ?? validateExpressions(request) ?? tooMany(request);
}

function tooLong(request: ExpressionRequest): string | undefined {
  for (const name of EXPRESSIONS) {
    const bytes = Buffer.byteLength(request[name] ?? '');
    if (bytes > EXPRESSION_LIMITS.bytes)
      return `Invalid ${name}: Expression size has exceeded the maximum allowed size; expression size: ${bytes}`;
  }
  return undefined;
}

function tooMany(request: ExpressionRequest): string | undefined {
  for (const [name, parsed] of Object.entries(PARSED)) {
    const nodes = nodesOf(request[parsed]);
    const longest = Math.max(0, ...nodes.map(({ type, args = [] }) => (type === 'in' ? args.length - 1 : 0)));
    if (longest > EXPRESSION_LIMITS.inOperands)
      return `Invalid ${name}: The IN operator is provided with too many operands; number of operands: ${longest}`;
    if (nodes.length > EXPRESSION_LIMITS.operators)
      return `Invalid ${name}: The expression contains too many operators; operator count: ${nodes.length}`;
  }
  return undefined;
}

/** Operators and functions: nodes with arguments. `=` of a SET has none. */
function nodesOf(parsed: unknown): readonly ExpressionNode[] {
  if (typeof parsed !== 'object' || parsed === null) return [];
  const below = Object.values(parsed).flatMap(nodesOf);
  return 'args' in parsed && 'type' in parsed ? [parsed as ExpressionNode, ...below] : below;
}
