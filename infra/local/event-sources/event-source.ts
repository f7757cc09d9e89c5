/** A queue whose messages call a function. */
export interface EventSourceDefinition {
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly functionArn: string;
  /** The most messages of one call: 1 to 10. */
  readonly batchSize: number;
  /** The most calls at once; undefined where the template sets none. */
  readonly maximumConcurrency: number | undefined;
  /** The function's answer says which messages failed (`ReportBatchItemFailures`). */
  readonly reportsFailures: boolean;
}
