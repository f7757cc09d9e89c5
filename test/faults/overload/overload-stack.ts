/**
 * Runs `npm start` over databases that take longer to answer. The effect of an overload then depends on their
 * concurrent statements, not on the processor cores that stack and load share on one machine.
 */
import { GATEWAY_LIMITS } from '../../../infra/local/gateway/gateway.ts';
import type { LocalStackOptions } from '../../../infra/local/stack/local-stack-options.ts';
import { serveStack, toldOptions } from '../serve-stack.ts';

export interface OverloadStackOptions extends Partial<LocalStackOptions> {
  readonly delayMs: number;
  /** A control: the gateway admits all requests, as the given functions do. */
  readonly isOpenDoor: boolean;
}

const { delayMs, isOpenDoor, ...options } = toldOptions<OverloadStackOptions>();
if (isOpenDoor) Object.assign(GATEWAY_LIMITS, { callsAtOnce: Number.POSITIVE_INFINITY });
await serveStack({ serverSize: 'full', ...options }, ({ groups: { groups } }) => {
  for (const { writerEndpoint } of groups) writerEndpoint.setFault({ kind: 'delay', milliseconds: delayMs });
});
