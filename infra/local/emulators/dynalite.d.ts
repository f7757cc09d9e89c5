declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** DynamoDB on LevelDB. Without `path` everything is in memory. */
  export default function dynalite(options: {
    readonly path?: string;
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
    readonly updateTableMs?: number;
  }): Server;
}

/** What dynalite checks of a request before it carries it out: as much of it as is mended here. */
declare module 'dynalite/validations/index.js' {
  /** An operator or a function, and what it is applied to. */
  export interface ExpressionNode {
    readonly type: string;
    readonly args?: readonly unknown[];
  }

  /** A request with the expressions that it has, and what they were parsed to. */
  export interface ExpressionRequest {
    readonly UpdateExpression?: string;
    readonly ConditionExpression?: string;
    readonly KeyConditionExpression?: string;
    readonly FilterExpression?: string;
    readonly ProjectionExpression?: string;
    readonly _updates?: unknown;
    readonly _condition?: unknown;
    readonly _keyCondition?: unknown;
    readonly _filter?: unknown;
  }

  const validations: {
    /** Parses the expressions of a request. Returns what is wrong with them. */
    validateExpressions: (request: ExpressionRequest) => string | undefined;
  };
  export default validations;
}
