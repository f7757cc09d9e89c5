/** Something to be put on a FIFO queue. */
export interface QueueMessage {
  readonly body: string;
  /** Messages of one group are received in the order in which they were accepted. */
  readonly groupId: string;
  /** A second message with the same one within five minutes is accepted and dropped. */
  readonly deduplicationId: string;
}

/** How queues are reached: all that tailing asks of SQS. */
export interface QueueClient {
  /**
   * Sends 1 to 10 messages in one request.
   *
   * @returns for each message in order: undefined once the queue has it, else why it does not
   * @throws what the connection or SQS throw: nothing is known of any message then
   */
  send(queueUrl: string, messages: readonly QueueMessage[]): Promise<readonly (Error | undefined)[]>;
  /** About how many messages the queue holds, being consumed or not. */
  depth(queueUrl: string): Promise<number>;
}
