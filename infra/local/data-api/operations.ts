import type { PoolConnection } from 'mysql2';
import { bind } from './bind.ts';
import { columnMetadata } from './column-metadata.ts';
import { Connections } from './connections.ts';
import { DataApiException } from './exceptions.ts';
import type { Field } from './field.ts';
import type { Limits } from './limits.ts';
import { findLogin, type DataApiCluster, type Login, type ResolveLogin } from './logins.ts';
import { formatRecords, longField, toRecords } from './records.ts';
import { readBatch, readExecute, readTarget, readTransaction, type ExecuteRequest, type Target } from './request.ts';
import { runStatement, type StatementResult } from './run-statement.ts';
import { isSingleStatement, leavesSessionState, readSqlText, type SqlText } from './sql-text.ts';
import { timedCall, type TimedCall } from './timed-call.ts';
import { Transactions } from './transactions.ts';

type Members = Readonly<Record<string, unknown>>;
export type OperationName =
  | 'ExecuteStatement'
  | 'BatchExecuteStatement'
  | 'BeginTransaction'
  | 'CommitTransaction'
  | 'RollbackTransaction'
  | 'ExecuteSql';

export interface Operations {
  /** Throws a `DataApiException`. */
  run(operation: OperationName, members: Members): Promise<object>;
  close(): Promise<void>;
}

/** What runs on a connection, in or out of a transaction. */
interface SessionWork<T> {
  readonly text: SqlText;
  readonly goesOn: boolean;
  readonly work: (connection: PoolConnection, signal: AbortSignal) => Promise<T>;
}

export function openOperations(clusters: readonly DataApiCluster[] | ResolveLogin, limits: Limits): Operations {
  const connections = new Connections(!limits.singleStatement);
  const transactions = new Transactions(connections, limits);

  async function execute(members: Members): Promise<object> {
    const request = readExecute(members, limits);
    const text = readSql(request.sql);
    const sql = bind(text, request.parameters);
    const result = await inSession(request, {
      text,
      goesOn: request.continueAfterTimeout,
      work: (connection) => runStatement(connection, sql, limits),
    });
    return executeAnswer(result, request, limits);
  }

  async function batchExecute(members: Members): Promise<object> {
    const request = readBatch(members, limits);
    const text = readSql(request.sql);
    const statements = request.parameterSets.map((parameters) => bind(text, parameters));
    // Without a parameter set nothing is run, whatever the statement.
    if (statements.length === 0) {
      await findLogin(clusters, request.resourceArn, request.secretArn);
      return { updateResults: [] };
    }
    const updateResults = await inSession(request, {
      text,
      goesOn: false,
      work: async (connection, signal) => {
        const results: { generatedFields: Field[] }[] = [];
        for (const sql of statements) {
          if (signal.aborted) break;
          const result = await runStatement(connection, sql, limits);
          if (result.kind === 'rows')
            throw new DataApiException(
              'ValidationException',
              "Statements that return a result set aren't supported by BatchExecuteStatement",
            );
          results.push({ generatedFields: generatedFields(result.insertId) });
        }
        return results;
      },
    });
    return { updateResults };
  }

  /** A call of its own commits by itself, on a session that no other call sees anything of. */
  async function inSession<T>(target: Target, { text, goesOn, work }: SessionWork<T>): Promise<T> {
    const { transactionId } = target;
    const begin = (connection: PoolConnection, login: Login): TimedCall<T> => {
      const threadId = connection.threadId ?? 0;
      const cancel = goesOn ? undefined : () => connections.killQuery(login, threadId);
      return timedCall({ limitMs: limits.statementMs, threadId, cancel, work: (signal) => work(connection, signal) });
    };
    const login = await findLogin(clusters, target.resourceArn, target.secretArn);
    if (transactionId !== undefined) {
      return transactions.use({ ...target, transactionId }, (transaction) => {
        transaction.hasSessionState ||= leavesSessionState(text);
        return begin(transaction.connection, transaction.login);
      });
    }
    const connection = await connections.take(login, target.database);
    const { answer, ended } = begin(connection, login);
    let isClean = !leavesSessionState(text);
    try {
      return await answer;
    } catch (error) {
      // What was killed, or broke, may still have something to say to whoever comes next on its connection.
      isClean &&=
        error instanceof DataApiException && error.name === 'DatabaseErrorException' && error.cause !== undefined;
      throw error;
    } finally {
      void ended.then(() => (isClean ? connection.release() : connection.destroy()));
    }
  }

  function readSql(sql: string): SqlText {
    const text = readSqlText(sql);
    if (limits.singleStatement && !isSingleStatement(text))
      throw new DataApiException('ValidationException', "Multistatements aren't supported.");
    return text;
  }

  const operations: Readonly<Record<OperationName, (members: Members) => Promise<object>>> = {
    ExecuteStatement: execute,
    BatchExecuteStatement: batchExecute,
    async BeginTransaction(members) {
      const { resourceArn, secretArn, database } = readTarget(members, limits);
      return {
        transactionId: await transactions.begin(
          resourceArn,
          await findLogin(clusters, resourceArn, secretArn),
          database,
        ),
      };
    },
    async CommitTransaction(members) {
      const target = readTransaction(members, limits);
      await findLogin(clusters, target.resourceArn, target.secretArn);
      await transactions.commit(target);
      return { transactionStatus: 'Transaction Committed' };
    },
    async RollbackTransaction(members) {
      const target = readTransaction(members, limits);
      await findLogin(clusters, target.resourceArn, target.secretArn);
      await transactions.rollback(target);
      return { transactionStatus: 'Rollback Complete' };
    },
    async ExecuteSql() {
      throw new DataApiException(
        'BadRequestException',
        'This API is deprecated and not available. Use ExecuteStatement API instead',
      );
    },
  };

  return {
    run: (operation, members) => operations[operation](members),
    async close() {
      transactions.close();
      await connections.close();
    },
  };
}

function executeAnswer(result: StatementResult, request: ExecuteRequest, limits: Limits): object {
  if (result.kind === 'change')
    return { generatedFields: generatedFields(result.insertId), numberOfRecordsUpdated: result.affectedRows };
  const { columns, rows } = result;
  const records = toRecords(columns, rows, request);
  if (request.asJson) {
    const formattedRecords = formatRecords(columns, records);
    if (Buffer.byteLength(formattedRecords) > limits.formattedBytes)
      throw new DataApiException('UnsupportedResultException', 'Database response exceeded size limit');
    return { formattedRecords, numberOfRecordsUpdated: 0 };
  }
  return {
    ...(request.includeResultMetadata ? { columnMetadata: columns.map(columnMetadata) } : {}),
    numberOfRecordsUpdated: 0,
    records,
  };
}

/** What the server calls the last insert id: the first that a statement gave, or what LAST_INSERT_ID(n) was told. */
function generatedFields(insertId: string): Field[] {
  return insertId === '0' ? [] : [longField(insertId)];
}
