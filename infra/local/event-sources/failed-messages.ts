/**
 * Returns the failed messages of a batch by the rules of `ReportBatchItemFailures`: an answer with unknown ids fails
 * all.
 */
export function failedMessages(answer: string, messageIds: ReadonlySet<string>): ReadonlySet<string> {
  const failures: unknown = Object(JSON.parse(answer)).batchItemFailures ?? [];
  if (!Array.isArray(failures)) return messageIds;
  const failed = new Set(failures.map((failure: unknown) => String(Object(failure).itemIdentifier)));
  return [...failed].every((id) => messageIds.has(id)) ? failed : messageIds;
}
