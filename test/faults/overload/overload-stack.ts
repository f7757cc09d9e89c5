/**
 * What `npm start` runs, over databases that take longer to answer: what an overload does is then decided by how many
 * statements they take at once, and not by the processor cores that stack and load share on one machine.
 */
import { GATEWAY_LIMITS } from '../../../infra/local/gateway/gateway.ts';
import { startLocalStack } from '../../../infra/local/stack/local-stack.ts';
import type { LocalStackOptions } from '../../../infra/local/stack/local-stack-options.ts';

/** What the program is told, as JSON in its argument. */
export interface OverloadStackOptions extends Partial<LocalStackOptions> {
  /** So much later comes every answer of a writer. */
  readonly delayMs: number;
  /** A control: the gateway lets in whatever comes, as the functions given do. */
  readonly isOpenDoor: boolean;
}

const { delayMs, isOpenDoor, ...options } = JSON.parse(process.argv[2] ?? '{}') as OverloadStackOptions;
if (isOpenDoor) Object.assign(GATEWAY_LIMITS, { callsAtOnce: Number.POSITIVE_INFINITY });
const starting = startLocalStack({ serverSize: 'full', ...options });
process.on('SIGTERM', () => {
  void starting.then((stack) => stack.stop()).finally(() => process.exit(0));
});
const stack = await starting;
for (const { writerEndpoint } of stack.groups.groups) writerEndpoint.setFault({ kind: 'delay', milliseconds: delayMs });
console.log(`ready ${stack.url}`);
