/**
 * A process that repairs the indexes of a deployment until its input ends; its heap is what Node was told. Says each
 * event, a line of JSON.
 */
import { randomUUID } from 'node:crypto';
import { runRepair } from '../../../../../shared/index/repair/run-repair.ts';
import type { RepairSettings } from '../../../../../shared/index/repair/settings.ts';
import { openContext } from '../../../../../shared/access/context.ts';
import { processOptions, type ProcessInput } from './process-context.ts';

export interface RepairInput extends ProcessInput {
  readonly stateTable: string;
  readonly settings: Partial<RepairSettings>;
}

const input = JSON.parse(process.argv[2] ?? '') as RepairInput;
const { dynamo, options, close } = processOptions(input);
const context = openContext(options);
const stopping = new AbortController();
process.stdin.once('end', () => stopping.abort()).resume();
await runRepair({
  context,
  topologyTable: { client: dynamo, table: input.topologyTable },
  stateTable: { client: dynamo, table: input.stateTable },
  owner: randomUUID(),
  deadline: Date.now() + 120_000,
  signal: stopping.signal,
  settings: input.settings,
  report(event) {
    const error =
      'error' in event
        ? String(event.error)
        : event.kind === 'followed' && 'error' in event.event
          ? String(event.event.error)
          : undefined;
    console.log(JSON.stringify({ ...event, error }));
  },
});
await context.groups.close();
close();
