import type { StoreContext } from '../../access/context.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import type { WorkersOptions } from '../../follow/workers.ts';
import type { SendingQueues } from '../state/queues.ts';
import type { TailSettings } from './settings.ts';
import type { TailEvent } from './tail-work.ts';

export interface TailRun {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  readonly queues: SendingQueues;
  readonly owner: string;
  /** From 0: the next run of the same slot takes over from this one. */
  readonly slot: number;
  /** The number of workers unless the state table has one. @default all that are started */
  readonly tailers?: number;
  /** When to end, by `Date.now()`: before the function's own time limit. */
  readonly deadline: number;
  readonly signal?: AbortSignal;
  /** Of new triggers; later runs keep to it. @default by `defaultPartitions` */
  readonly partitions?: number;
  readonly settings?: Partial<TailSettings>;
  readonly heartbeat?: Pick<WorkersOptions, 'heartbeatMs' | 'silenceMs'>;
  readonly report?: (event: TailEvent) => void;
}
