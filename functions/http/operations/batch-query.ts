import { batchOfReads } from './batch-of-reads.ts';
import { queryIndex } from './query-index.ts';

/** POST /batch-query: queries of indexes. */
export const batchQuery = batchOfReads({ queryIndex });
