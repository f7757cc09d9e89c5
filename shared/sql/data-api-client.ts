import {
  ExecuteStatementCommand,
  type ExecuteStatementCommandOutput,
  type Field,
  type RDSDataClient,
} from '@aws-sdk/client-rds-data';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BreakerSettings } from './guarded-client.ts';
import { SqlError, type SqlBounds, type SqlClient, type SqlRow, type SqlValue, type Statement } from './client.ts';
import { checkParameters } from './names.ts';
import { isResuming, isThrottled, toDataApiError } from './data-api-error.ts';
import { namedParameters } from './named-parameters.ts';
import { unionOf } from './union.ts';

interface DataApiCluster {
  readonly resourceArn: string;
  readonly secretArn: string;
}

interface DataApiSettings {
  /** A call is abandoned after this time. Longer than the servers' lock wait of 1 s; two fit in 30 s. @default 10000 */
  readonly callTimeoutMs?: number;
  /** How long a paused cluster may resume, and throttled calls are repeated. @default 18000 */
  readonly waitMs?: number;
}

const DEFAULTS: Required<DataApiSettings> = { callTimeoutMs: 10_000, waitMs: 18_000 };

const KIB = 1024;

/** A resuming cluster is slow, not down: only a call that times out counts. */
export const DATA_API_BREAKERS: Partial<BreakerSettings> = { slowMs: 30_000, probeTimeoutMs: 2000 };

/** The Data API's limit of headers and body, less a margin for the headers. Base64 and JSON count. */
const REQUEST_BYTES = 4096 * KIB - 16 * KIB;
const STATEMENT_CHARACTERS = 65_536;
/** The rest of 64 KiB a row, 1 MiB a result and 4 MiB a request after the other columns; bodies travel as base64. */
const BOUNDS: SqlBounds = { bodyBytes: 60 * KIB, writtenBytes: 2900 * KIB, pageBytes: 512 * KIB };
const SETS_INSERT_ID = /\bLAST_INSERT_ID\(./;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 3000;

/** Reaches a group's writer over the RDS Data API. Waits for a paused cluster; `client` must not retry. */
export function dataApiClient(
  client: RDSDataClient,
  cluster: DataApiCluster,
  settings: DataApiSettings = {},
): SqlClient {
  const { callTimeoutMs, waitMs } = { ...DEFAULTS, ...settings };

  async function callOnce(command: ExecuteStatementCommand, withinMs: number): Promise<ExecuteStatementCommandOutput> {
    const timeout = AbortSignal.timeout(withinMs);
    try {
      return await client.send(command, { abortSignal: timeout });
    } catch (error) {
      throw toDataApiError(error, timeout.aborted);
    }
  }

  async function run(statement: Statement): Promise<ExecuteStatementCommandOutput> {
    checkParameters(statement.parameters);
    const command = toCommand(cluster, statement);
    const deadline = performance.now() + waitMs;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await callOnce(command, statement.withinMs ?? callTimeoutMs);
      } catch (error) {
        const refused = error instanceof SqlError && (isResuming(error) || isThrottled(error));
        if (!refused || performance.now() + pause > deadline) throw error;
      }
      await sleep(pause * (0.5 + Math.random() / 2));
    }
  }

  async function selectAll(statement: Statement): Promise<readonly SqlRow[]> {
    try {
      const { records = [] } = await run(statement);
      return records.map((record) => record.map(toValue));
    } catch (error) {
      const { parts = [] } = statement;
      if (!(error instanceof SqlError) || !error.tooLarge || parts.length < 2) throw error;
      const half = Math.ceil(parts.length / 2);
      return (
        await Promise.all([parts.slice(0, half), parts.slice(half)].map((some) => selectAll(unionOf(some))))
      ).flat();
    }
  }

  return {
    abilities: { readsFromReaders: false, survivesDiskLoss: false, bounds: BOUNDS },
    nodes: 1,
    select: selectAll,
    async change(statement) {
      const { numberOfRecordsUpdated = 0, generatedFields = [] } = await run(statement);
      const insertId = Number(generatedFields[0]?.longValue ?? generatedFields[0]?.stringValue ?? 0);
      // Added ids are counted back from it: without one the outcome is unknown, and the caller has to check.
      if (insertId < numberOfRecordsUpdated && SETS_INSERT_ID.test(statement.sql))
        throw new SqlError('unclear', `${numberOfRecordsUpdated} rows, and insert id ${insertId}`);
      return { affectedRows: numberOfRecordsUpdated, insertId };
    },
    // The client is its owner's: others share it.
    close: async () => undefined,
  };
}

function toCommand({ resourceArn, secretArn }: DataApiCluster, statement: Statement): ExecuteStatementCommand {
  const { sql, parameters } = namedParameters(statement);
  if (sql.length > STATEMENT_CHARACTERS)
    throw new SqlError(
      'rejected',
      `a statement of ${sql.length} characters: the RDS Data API takes ${STATEMENT_CHARACTERS} at most`,
      { tooLarge: true },
    );
  const bytes = Buffer.byteLength(sql) + statement.parameters.reduce<number>((sum, value) => sum + sizeOf(value), 0);
  if (bytes > REQUEST_BYTES)
    throw new SqlError(
      'rejected',
      `a request of ${bytes} bytes, its values in base64: the RDS Data API takes ${REQUEST_BYTES} at most`,
      { tooLarge: true },
    );
  return new ExecuteStatementCommand({
    resourceArn,
    secretArn,
    sql,
    parameters,
    // The service answers after 45 s, and the server goes on.
    ...(statement.withinMs !== undefined && { continueAfterTimeout: true }),
    resultSetOptions: { longReturnType: 'STRING', decimalReturnType: 'STRING' },
  });
}

/** Returns the size on the wire: base64 or JSON text, and the names around it. */
function sizeOf(value: Statement['parameters'][number]): number {
  const around = 64;
  if (value instanceof Uint8Array) return around + Math.ceil(value.length / 3) * 4;
  return around + (typeof value === 'string' ? Buffer.byteLength(JSON.stringify(value)) : 24);
}

function toValue(field: Field): SqlValue {
  const [value] = Object.values(field) as (string | number | boolean | Uint8Array)[];
  if (field.isNull === true || value === undefined) return null;
  return typeof value === 'boolean' ? Number(value) : value;
}
