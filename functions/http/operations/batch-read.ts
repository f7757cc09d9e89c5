import { batchOfReads } from './batch-of-reads.ts';
import { cellsTogether, getCell, getLatestCell } from './get-cell.ts';
import { getRow } from './get-row.ts';
import { listVersions } from './list-versions.ts';

/** POST /batch-read: reads of single rows. */
export const batchRead = batchOfReads({ getCell, getLatestCell, listVersions, getRow }, cellsTogether);
