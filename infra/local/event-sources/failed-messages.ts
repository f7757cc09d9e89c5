/**
 * The messages of a batch that a function's answer reports as failed, by the rules of `ReportBatchItemFailures`: an
 * answer that reports none is a success of all; one that reports something else than messages of the batch fails all.
 *
 * @param answer JSON text
 * @param messageIds of the batch
 */
export function failedMessages(answer: string, messageIds: ReadonlySet<string>): ReadonlySet<string> {
  const failures: unknown = Object(JSON.parse(answer)).batchItemFailures ?? [];
  if (!Array.isArray(failures)) return messageIds;
  const failed = new Set(failures.map((failure: unknown) => String(Object(failure).itemIdentifier)));
  return failed.isSubsetOf(messageIds) ? failed : messageIds;
}
