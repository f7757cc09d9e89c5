import type { Wrap } from '../../support/store-access.ts';

/** Rows go once the writer shows their cells, whatever the readers show. A control. */
export const wrap: Wrap = (client) => ({ ...client, nodes: 1 });
