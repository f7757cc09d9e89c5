export interface EventSourceDefinition {
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly functionArn: string;
  readonly batchSize: number;
  /** The most calls at once; undefined where the template sets none. */
  readonly maximumConcurrency: number | undefined;
  /** The function's answer says which messages failed (`ReportBatchItemFailures`). */
  readonly reportsFailures: boolean;
}
