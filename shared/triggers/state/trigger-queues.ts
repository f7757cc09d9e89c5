/** A message in a trigger's last queue, received and hidden from others for a while. */
export interface DeadMessage {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** When SQS moved it there, or it was sent: milliseconds since 1970. */
  readonly sentAt: number;
}

/** How the management of triggers reaches their queues. All methods throw what SQS throws. */
export interface TriggerQueues {
  /** About how many messages a queue holds, being consumed or not. */
  depth(queueUrl: string): Promise<number>;
  /** Up to ten messages, hidden from others for so many seconds; none of a group of which some are hidden. */
  receive(queueUrl: string, seconds: number): Promise<readonly DeadMessage[]>;
  show(queueUrl: string, messages: readonly DeadMessage[]): Promise<void>;
  remove(queueUrl: string, messages: readonly DeadMessage[]): Promise<void>;
}
