import type { StoreContext } from '../../access/context.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import type { WorkersOptions } from '../../follow/workers.ts';
import type { QueueClient } from './queue-client.ts';
import type { TailSettings } from './settings.ts';
import type { TailEvent } from './tail-work.ts';

/** What a worker that sends is given. */
export interface TailRun {
  /** Its topology says which triggers there are. */
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  readonly queues: QueueClient;
  readonly owner: string;
  /** Which of the workers wished for this is, from 0: the next run of the same slot takes over from it. */
  readonly slot: number;
  /** How many workers there are to be unless the state table says otherwise. @default all that are started */
  readonly tailers?: number;
  /** When to end, by `Date.now()`, whatever comes: short of the function's own time limit. */
  readonly deadline: number;
  /** Ends the run earlier, in the same orderly way. */
  readonly signal?: AbortSignal;
  /** Of triggers that have not run before; later ones keep to it. @default by `defaultPartitions` */
  readonly partitions?: number;
  /** @default TAIL_SETTINGS, for those left out */
  readonly settings?: Partial<TailSettings>;
  /** Of the announcement to other workers. @default those of `Workers` */
  readonly heartbeat?: Pick<WorkersOptions, 'heartbeatMs' | 'silenceMs'>;
  readonly report?: (event: TailEvent) => void;
}
