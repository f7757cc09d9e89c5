/** A drain that takes the word of one reader for that of all: a control. */
import type { Target } from '../../../shared/sql/client.ts';
import type { Wrap } from '../../support/store-access.ts';

/** The group's second node, its first reader, is never asked. */
export const wrap: Wrap = (client) => {
  const skipping = (target: Target): Target =>
    typeof target === 'object' && target.node > 0 ? { node: target.node + 1 } : target;
  return {
    ...client,
    nodes: client.nodes - 1,
    select: (statement, target) => client.select(statement, skipping(target)),
  };
};
