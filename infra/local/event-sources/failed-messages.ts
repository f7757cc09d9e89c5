/** Returns a batch's failed messages (`ReportBatchItemFailures`): unknown ids in an answer fail all. */
export function failedMessages(answer: string, messageIds: ReadonlySet<string>): ReadonlySet<string> {
  const failures: unknown = Object(JSON.parse(answer)).batchItemFailures ?? [];
  if (!Array.isArray(failures)) return messageIds;
  const failed = new Set(failures.map((failure: unknown) => String(Object(failure).itemIdentifier)));
  return [...failed].every((id) => messageIds.has(id)) ? failed : messageIds;
}
