/** The facts that tell what happened, and where; of an event that carries another or a message, these are its facts. */
interface Facts {
  readonly kind: string;
  readonly group?: string;
  readonly index?: string;
  readonly shard?: number;
  readonly added_id?: number;
}

/**
 * Returns what happened, for the `message` of a log line: "bill_rider failed at 0:40", "circuit opened on group-1".
 *
 * @param subject the subject of the event, if no fact of the event says so
 */
export function eventMessage(event: { readonly kind: string }, subject?: string): string {
  const { event: inner, message, ...outer } = event as { readonly event?: object; readonly message?: object } & Facts;
  const { kind, group, index, shard, added_id } = { ...outer, ...message, ...inner } as Facts;
  const words = [
    subject,
    kind.replaceAll('_', ' '),
    index && `for ${index}`,
    group && `on ${group}`,
    shard !== undefined && (added_id === undefined ? `in shard ${shard}` : `at ${shard}:${added_id}`),
  ];
  return words.filter((word) => typeof word === 'string').join(' ');
}
