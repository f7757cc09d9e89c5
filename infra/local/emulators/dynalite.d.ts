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

declare module 'dynalite/validations/index.js' {
  export interface ExpressionNode {
    readonly type: string;
    readonly args?: readonly unknown[];
  }

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
    validateExpressions: (request: ExpressionRequest) => string | undefined;
  };
  export default validations;
}
